{{/* How every pod and container of the chart is confined. */}}
{{- define "trelu.podConfinement" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- if .Values.userNamespaces }}
hostUsers: false
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "trelu.containerConfinement" -}}
securityContext:
  runAsNonRoot: true
  allowPrivilegeEscalation: false
  privileged: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
  seccompProfile:
    type: RuntimeDefault
{{- end -}}

{{/* A bit more than all phases of the end together; see `drain` in values.yaml. */}}
{{- define "trelu.gracePeriod" -}}
{{- with .Values.drain -}}
{{- $phases := add .preStopSleepSeconds .delaySeconds .graceSeconds | int -}}
{{- $period := $.Values.terminationGracePeriodSeconds -}}
{{- if eq $period nil -}}
{{- add $phases 5 -}}
{{- else if le (int $period) (add $phases 2 | int) -}}
{{- fail (printf "terminationGracePeriodSeconds is %d; drain's phases take %d seconds, and stopping two more" (int $period) $phases) -}}
{{- else -}}
{{- int $period -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* probe (list TLS? SERVICE PATH): how to ask the server for its health: by gRPC, unless that is encrypted. */}}
{{- define "trelu.probe" -}}
{{- if index . 0 -}}
httpGet:
  port: metrics
  path: {{ index . 2 }}
{{- else -}}
grpc:
  port: 8001
  service: {{ index . 1 }}
{{- end -}}
{{- end -}}
