{{- define "video.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "video.labels" -}}
app.kubernetes.io/name: video-generation-service
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{/* The image of a container. Takes root, and tag: the tag of a pool, or empty. */}}
{{- define "video.image" -}}
{{- $image := .root.Values.image -}}
{{- if .tag -}}
{{ $image.repository }}:{{ .tag }}
{{- else if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ $image.tag | default .root.Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* The name of a required Secret. Takes root and kind. */}}
{{- define "video.secret" -}}
{{- $name := index .root.Values.secrets .kind -}}
{{- required (printf "secrets.%s is empty: name the Secret, see deploy/helm/README.md" .kind) $name -}}
{{- end -}}

{{- define "video.catalogue" -}}
{{- if .Values.catalogue.configMap -}}
{{ .Values.catalogue.configMap }}
{{- else if .Values.catalogue.content -}}
{{ include "video.name" . }}-catalogue
{{- else -}}
{{- fail "catalogue.content and catalogue.configMap are empty: add --set-file catalogue.content=catalogue.yaml" -}}
{{- end -}}
{{- end -}}

{{/* The claim of stored files; empty if they are in S3. */}}
{{- define "video.claim" -}}
{{- with .Values.storage.claim -}}
{{- if .existing -}}
{{ .existing }}
{{- else if .create -}}
{{ include "video.name" $ }}-files
{{- else if not (index $.Values.settings "S3_BUCKET") -}}
{{- fail "storage.claim has neither create nor existing, and settings.S3_BUCKET is empty: stored files have no place" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
Settings as environment variables. Takes root, and own: settings that replace those of all processes. Optional: otherwise, which are
used if neither has them. YAML gives large numbers as floats, and these would be written as 2e+10.
*/}}
{{- define "video.env" -}}
{{- $address := index .root.Values.settings "TEMPORAL_ADDRESS" -}}
{{- $_ := required "settings.TEMPORAL_ADDRESS is empty: host:port of your Temporal" $address -}}
{{- range $name, $value := mergeOverwrite (dict) (default (dict) .otherwise) .root.Values.settings .own }}
- name: {{ $name }}
  value: {{ ternary (printf "%.0f" $value) ($value | toString) (kindIs "float64" $value) | quote }}
{{- end }}
{{- end -}}

{{/* Settings of API and worker that are not given. */}}
{{- define "video.otherwise" -}}
CATALOGUE_FILE: /catalogue/catalogue.yaml
METRICS_HOST: 0.0.0.0
{{- if .Values.api.ingress.enabled }}
PUBLIC_URL: {{ default (printf "https://%s" .Values.api.ingress.host) .Values.api.settings.PUBLIC_URL | quote }}
{{- end }}
{{- end -}}

{{- define "video.pod" -}}
automountServiceAccountToken: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "video.container" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end -}}

{{- define "video.mounts" -}}
- { name: tmp, mountPath: /tmp }
- { name: files, mountPath: /data }
- { name: catalogue, mountPath: /catalogue, readOnly: true }
{{ include "video.secretMount" . }}
{{- end -}}

{{- define "video.secretMount" -}}
{{- if .Values.secrets.files -}}
- { name: secrets, mountPath: /secrets, readOnly: true }
{{- end -}}
{{- end -}}

{{- define "video.secretVolume" -}}
{{- with .Values.secrets.files -}}
- name: secrets
  secret: { secretName: {{ . }} }
{{- end -}}
{{- end -}}

{{/* The number of pods. With autoscaling it is left as it is: without a number Kubernetes would set it to 1. Takes name, root, part. */}}
{{- define "video.replicas" -}}
{{- if not .part.autoscaling.enabled -}}
replicas: {{ .part.replicas }}
{{- else -}}
{{- with lookup "apps/v1" "Deployment" .root.Release.Namespace .name -}}
replicas: {{ .spec.replicas }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "video.volumes" -}}
{{- $claim := include "video.claim" . -}}
- name: tmp
  emptyDir: {}
- name: files
  {{- if $claim }}
  persistentVolumeClaim: { claimName: {{ $claim }} }
  {{- else }}
  emptyDir: {}
  {{- end }}
- name: catalogue
  configMap: { name: {{ include "video.catalogue" . }} }
{{ include "video.secretVolume" . }}
{{- end -}}

{{/* Spreads the pods of a Deployment over machines. Takes its labels as text. */}}
{{- define "video.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- . | nindent 8 }}
{{- end -}}
