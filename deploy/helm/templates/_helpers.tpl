{{- define "video.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "video.labels" -}}
app.kubernetes.io/name: video-generation-service
app.kubernetes.io/instance: {{ .Release.Name }}
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

{{/* Settings as environment variables. Takes root, and own: settings that replace those of all processes. */}}
{{- define "video.env" -}}
{{- $address := index .root.Values.settings "TEMPORAL_ADDRESS" -}}
{{- $_ := required "settings.TEMPORAL_ADDRESS is empty: host:port of your Temporal" $address -}}
{{- range $name, $value := mergeOverwrite (deepCopy .root.Values.settings) .own }}
- name: {{ $name }}
  value: {{ $value | toString | quote }}
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
