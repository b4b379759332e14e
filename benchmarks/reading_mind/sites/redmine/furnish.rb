# Makes two projects, three people and nine issues.
def person(login, first, last, password, admin)
  user = User.new(firstname: first, lastname: last, mail: "#{login}@example.org", language: "en")
  user.login, user.admin, user.password, user.password_confirmation = login, admin, password, password
  user.save!
  user
end

ada = person("ada", "Ada", "Byron", ARGV[0] || ENV.fetch("FURNISH_PASSWORD"), true)
jonas = person("jonas", "Jonas", "Bergh", SecureRandom.hex(12), false)
mira = person("mira", "Mira", "Holm", SecureRandom.hex(12), false)
User.find_by_login("admin").lock!
Setting.notified_events = []
trackers, role = Tracker.all.to_a, Role.find_by_name("Developer")
quay, office = [["Quay", "quay"], ["Office", "office"]].map do |name, id|
  project = Project.create!(name: name, identifier: id, trackers: trackers, enabled_module_names: %w[issue_tracking time_tracking])
  [ada, jonas, mira].each { |user| Member.create!(project: project, user: user, roles: [role]) }
  project
end
[
  [quay, "Bollard 7 is bent", jonas, "2026-12-04", "Normal"],
  [quay, "Lamp at the slipway is dark", mira, "2026-12-01", "High"],
  [quay, "Order new fenders", jonas, "2026-12-11", "Low"],
  [office, "Copy the contracts", mira, nil, "Normal"],
  [quay, "Repair the gangway", ada, "2026-12-18", "Urgent"],
  [office, "Renew the insurance", jonas, "2027-01-08", "High"],
  [quay, "Measure the depth at berth C", ada, nil, "Normal"],
  [office, "Archive the log of 2024", jonas, "2026-12-30", "Low"],
  [quay, "Clean the drains", mira, "2026-11-27", "Normal"],
].each do |project, subject, assignee, due, priority|
  Issue.create!(project: project, tracker: Tracker.find_by_name("Support"), author: ada, subject: subject, assigned_to: assignee, due_date: due,
                priority: IssuePriority.find_by_name(priority), status: IssueStatus.find_by_name("New"))
end
