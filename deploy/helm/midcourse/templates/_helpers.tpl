{{- define "midcourse.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end -}}
{{- end }}

{{/* Labels of one part: {{ include "midcourse.labels" (list . "worker") }} */}}
{{- define "midcourse.labels" -}}
{{- $root := first . -}}
{{ include "midcourse.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ $root.Chart.Name }}-{{ $root.Chart.Version }}
{{- end }}

{{- define "midcourse.selector" -}}
{{- $root := first . -}}
app.kubernetes.io/name: {{ $root.Chart.Name }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ last . }}
{{- end }}

{{- define "midcourse.image" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{/* What every pod has: no root, no token of the cluster. The seccomp profile is the second of the list. */}}
{{- define "midcourse.pod" -}}
{{- $root := first . -}}
automountServiceAccountToken: false
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {{ toJson (last .) }}
{{- end }}

{{- define "midcourse.hostUrl" -}}
{{ ternary "https" "http" (ne .Values.host.tls.existingSecret "") }}://{{ include "midcourse.name" . }}-host:4100
{{- end }}

{{/* Settings of workers and the server. */}}
{{- define "midcourse.settings" -}}
- name: MIDCOURSE_DATABASE_URL
  valueFrom:
    secretKeyRef: {name: {{ .Values.existingSecret }}, key: database-url}
{{- with .Values.temporal.namespace }}
- name: MIDCOURSE_TEMPORAL_NAMESPACE
  value: {{ . | quote }}
{{- end }}
{{- with .Values.temporal.address }}
- name: MIDCOURSE_TEMPORAL_ADDRESS
  value: {{ . | quote }}
{{- end }}
{{- with .Values.temporal.profile }}
- name: MIDCOURSE_TEMPORAL_PROFILE
  value: {{ . | quote }}
- name: TEMPORAL_CONFIG_FILE
  value: /run/temporal/temporal.toml
{{- end }}
- name: MIDCOURSE_TENANT
  value: {{ .Values.tenant | quote }}
- name: MIDCOURSE_KEYS_FILE
  value: /run/midcourse/secrets/keys
{{- if .Values.host.enabled }}
- name: MIDCOURSE_HOST_FILE
  value: /run/midcourse/host/host.json
{{- end }}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{/* Writes the file that a host on the same machine would write: where it is, its token, what it opens, and which certificates to trust for it. */}}
{{- define "midcourse.hostFile" -}}
{{- if .Values.host.enabled }}
initContainers:
  - name: host-file
    {{- include "midcourse.image" . | nindent 4 }}
    command:
      - sh
      - -c
      - |
        umask 077
        printf '{"url":"%s","token":"%s","pid":0,"worlds":%s,"ca":"%s"}' "$HOST_URL" "$(cat /run/midcourse/secrets/host-token)" "$HOST_WORLDS" "$HOST_CA" >/run/midcourse/host/host.json
    env:
      - name: HOST_URL
        value: {{ include "midcourse.hostUrl" . | quote }}
      - name: HOST_WORLDS
        value: {{ toJson .Values.host.worlds | quote }}
      - name: HOST_CA
        value: {{ ternary "/run/midcourse/trust/ca.crt" "" (ne .Values.host.tls.existingSecret "") | quote }}
    resources:
      requests: {cpu: 10m, memory: 32Mi}
    volumeMounts:
      - {name: host-token, mountPath: /run/midcourse/secrets, readOnly: true}
      - {name: host-file, mountPath: /run/midcourse/host}
{{- end }}
{{- end }}

{{/* What values add to the command, environment, mounts and volumes of one part, each from the values of that part. */}}
{{- define "midcourse.args" -}}
{{- range .args }}
- {{ . | quote }}
{{- end }}
{{- end }}

{{- define "midcourse.envFrom" -}}
{{- with .envFrom }}
envFrom: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "midcourse.extraVolumeMounts" -}}
{{- with .extraVolumeMounts }}
{{- toYaml . }}
{{- end }}
{{- end }}

{{- define "midcourse.extraVolumes" -}}
{{- with .extraVolumes }}
{{- toYaml . }}
{{- end }}
{{- end }}

{{/* Mounts and volumes of workers and the server, besides their own secrets and homes. */}}
{{- define "midcourse.mounts" -}}
- {name: secrets, mountPath: /run/midcourse/secrets, readOnly: true}
- {name: home, mountPath: /var/lib/midcourse}
- {name: temporary, mountPath: /tmp}
{{- if .Values.temporal.existingSecret }}
- {name: temporal, mountPath: /run/temporal, readOnly: true}
{{- end }}
{{- if .Values.host.enabled }}
- {name: host-file, mountPath: /run/midcourse/host, readOnly: true}
{{- if .Values.host.tls.existingSecret }}
- {name: trust, mountPath: /run/midcourse/trust, readOnly: true}
{{- end }}
{{- end }}
{{- end }}

{{- define "midcourse.volumes" -}}
- name: temporary
  emptyDir: {}
{{- if .Values.temporal.existingSecret }}
- name: temporal
  secret: {secretName: {{ .Values.temporal.existingSecret }}}
{{- end }}
{{- if .Values.host.enabled }}
- name: host-file
  emptyDir: {medium: Memory, sizeLimit: 1Mi}
- name: host-token
  secret:
    secretName: {{ .Values.existingSecret }}
    items: [{key: host-token, path: host-token}]
{{- if .Values.host.tls.existingSecret }}
- name: trust
  secret:
    secretName: {{ .Values.host.tls.existingSecret }}
    items: [{key: ca.crt, path: ca.crt}]
{{- end }}
{{- end }}
{{- end }}
