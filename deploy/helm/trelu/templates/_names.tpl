{{- define "trelu.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" (.Release.Name | trunc 44 | trimSuffix "-") .Chart.Name -}}
{{- end -}}
{{- end -}}

{{/* A value that may be a number, as its reader takes it: numbers from files are floating, and large ones would be
     written with an exponent. */}}
{{- define "trelu.number" -}}
{{- if kindIs "float64" . -}}
{{- if eq . (floor .) }}{{ printf "%.0f" . }}{{ else }}{{ printf "%v" . }}{{ end -}}
{{- else -}}
{{ . }}
{{- end -}}
{{- end -}}

{{- define "trelu.instance" -}}
app.kubernetes.io/name: trelu
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* What the server's pods have, and no other pod. */}}
{{- define "trelu.selector" -}}
{{ include "trelu.instance" . }}
app.kubernetes.io/component: server
{{- end -}}

{{- define "trelu.labels" -}}
{{ include "trelu.selector" . }}
{{ include "trelu.origin" . }}
{{- end -}}

{{- define "trelu.origin" -}}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "trelu.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "trelu.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{ .Values.serviceAccount.name | default (include "trelu.fullname" .) }}
{{- else -}}
{{ .Values.serviceAccount.name | default "default" }}
{{- end -}}
{{- end -}}
