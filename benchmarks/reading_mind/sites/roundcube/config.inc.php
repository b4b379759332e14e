<?php
$config = [];
$config['db_dsnw'] = 'sqlite:///' . getenv('READING_DATABASE') . '?mode=0640';
$config['imap_host'] = '127.0.0.1:' . getenv('READING_IMAP');
$config['smtp_host'] = '127.0.0.1:' . getenv('READING_SMTP');
$config['smtp_user'] = '';
$config['smtp_pass'] = '';
$config['product_name'] = 'Harbour mail';
$config['des_key'] = 'only for loopback, 24ch!';
$config['plugins'] = [];
$config['skin'] = 'elastic';
$config['log_driver'] = 'stdout';
$config['temp_dir'] = sys_get_temp_dir();
$config['mime_types'] = '/etc/mime.types';
$config['enable_installer'] = false;
$config['identities_level'] = 0;
