{{- define "video.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* The labels by which the pods of a component are found. Takes root, component, and for a pool of workers pool. */}}
{{- define "video.selector" -}}
app.kubernetes.io/name: video-generation-service
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- with .pool }}
video/pool: {{ quote . }}
{{- end }}
{{- end -}}

{{/* The labels of an object: those of the selector, which no value can replace, and those of the values. */}}
{{- define "video.labels" -}}
{{- mergeOverwrite (dict) (.root.Values.commonLabels | default dict) (include "video.selector" . | fromYaml) | toYaml -}}
{{- end -}}

{{/*
What the values say about the pods of a process. The last part counts most: maps are merged, lists are replaced. Takes root, and parts,
each with or without pod.
*/}}
{{- define "video.podValues" -}}
{{- $pod := deepCopy (.root.Values.pod | default dict) -}}
{{- range .parts -}}
{{- $pod = mergeOverwrite $pod (deepCopy ((. | default dict).pod | default dict)) -}}
{{- end -}}
{{- toYaml $pod -}}
{{- end -}}

{{/* The image of a container. Takes root, and tag: the tag of a pool, or empty. */}}
{{- define "video.image" -}}
{{- $image := .root.Values.image -}}
{{- $repository := required "image.repository is empty: name where the image of the service is" $image.repository -}}
{{- if .tag -}}
{{ $repository }}:{{ .tag }}
{{- else if $image.digest -}}
{{ $repository }}@{{ $image.digest }}
{{- else -}}
{{ $repository }}:{{ $image.tag | default .root.Chart.AppVersion }}
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
Settings as environment variables. Takes root, pod, and own: settings that replace those of all processes. Optional: otherwise, which are
used if neither has them. YAML gives large numbers as floats, and these would be written as 2e+10.
*/}}
{{- define "video.env" -}}
{{- $address := index .root.Values.settings "TEMPORAL_ADDRESS" -}}
{{- $_ := required "settings.TEMPORAL_ADDRESS is empty: host:port of your Temporal" $address -}}
{{- range $name, $value := mergeOverwrite (dict) (default (dict) .otherwise) .root.Values.settings .own }}
- name: {{ $name }}
  value: {{ ternary (printf "%.0f" $value) ($value | toString) (kindIs "float64" $value) | quote }}
{{- end }}
{{- with .pod.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Settings of API and worker that are not given. */}}
{{- define "video.otherwise" -}}
CATALOGUE_FILE: /catalogue/catalogue.yaml
METRICS_HOST: 0.0.0.0
{{- if .Values.api.ingress.enabled }}
PUBLIC_URL: {{ default (printf "https://%s" (first .Values.api.ingress.hosts)) .Values.api.settings.PUBLIC_URL | quote }}
{{- end }}
{{- end -}}

{{/* The annotations of an object. Takes a map, or nothing. */}}
{{- define "video.annotations" -}}
{{- with . -}}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}

{{/* The metadata of a pod. Takes root, component, pool, pod, and reads: names of what the process reads. */}}
{{- define "video.podMetadata" -}}
labels:
  {{- mergeOverwrite (dict) (.root.Values.commonLabels | default dict) (.pod.labels | default dict) (include "video.selector" . | fromYaml) | toYaml | nindent 2 }}
{{- $sums := dict -}}
{{- if has "catalogue" .reads -}}
{{- $sums = dict "checksum/catalogue" (.root.Values.catalogue.content | sha256sum) -}}
{{- end }}
{{ include "video.annotations" (mergeOverwrite (dict) (.pod.annotations | default dict) $sums) }}
{{- end -}}

{{/*
The service account of a pod; empty: the default of the namespace. A created one does not exist before the install, so the migration has
one of its own. Takes root and component.
*/}}
{{- define "video.serviceAccount" -}}
{{- $account := .root.Values.serviceAccount -}}
{{- if $account.create -}}
{{ $account.name | default (include "video.name" .root) }}{{ if eq .component "migrate" }}-migrate{{ end }}
{{- else -}}
{{ $account.name }}
{{- end -}}
{{- end -}}

{{/* What every pod has, and what the values say about its user and its machine. Takes root and pod. */}}
{{- define "video.pod" -}}
automountServiceAccountToken: {{ .root.Values.serviceAccount.automount }}
{{- with include "video.serviceAccount" . }}
serviceAccountName: {{ . }}
{{- end }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- range $name := list "securityContext" "nodeSelector" "tolerations" "affinity" "priorityClassName" }}
{{- with index $.pod $name }}
{{ toYaml (dict $name .) }}
{{- end }}
{{- end }}
{{- with .pod.extraInitContainers }}
initContainers:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* What all containers have. Takes root, part, pod and reads. */}}
{{- define "video.container" -}}
{{- with .pod.containerSecurityContext -}}
securityContext:
  {{- toYaml . | nindent 2 }}
{{ end -}}
resources:
  {{- toYaml .part.resources | nindent 2 }}
volumeMounts:
  - { name: tmp, mountPath: /tmp }
  {{- if has "files" .reads }}
  - { name: files, mountPath: /data }
  {{- end }}
  {{- if has "catalogue" .reads }}
  - { name: catalogue, mountPath: /catalogue, readOnly: true }
  {{- end }}
  {{- if and .root.Values.secrets.files (has "secrets" .reads) }}
  - { name: secrets, mountPath: /secrets, readOnly: true }
  {{- end }}
  {{- with .pod.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* Says `yes` if an autoscaler changes the number of pods. No autoscaler changes 0. Takes part. */}}
{{- define "video.isScaled" -}}
{{- if and .part.autoscaling.enabled (gt (int .part.replicas) 0) -}}yes{{- end -}}
{{- end -}}

{{/*
The number of pods. With autoscaling it is left as it is: without a number Kubernetes would set it to 1. An autoscaler starts nothing at 0.
Takes name, root, part.
*/}}
{{- define "video.replicas" -}}
{{- if not (include "video.isScaled" .) -}}
replicas: {{ .part.replicas }}
{{- else -}}
{{- with lookup "apps/v1" "Deployment" .root.Release.Namespace .name -}}
replicas: {{ .spec.replicas | default $.part.replicas }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The volumes of a pod. Takes root, pod and reads. */}}
{{- define "video.volumes" -}}
- name: tmp
  emptyDir: {}
{{- if has "files" .reads }}
{{- $claim := include "video.claim" .root }}
- name: files
  {{- if $claim }}
  persistentVolumeClaim: { claimName: {{ $claim }} }
  {{- else }}
  emptyDir: {}
  {{- end }}
{{- end }}
{{- if has "catalogue" .reads }}
- name: catalogue
  configMap: { name: {{ include "video.catalogue" .root }} }
{{- end }}
{{- if has "secrets" .reads }}
{{- with .root.Values.secrets.files }}
- name: secrets
  secret: { secretName: {{ . }} }
{{- end }}
{{- end }}
{{- with .pod.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Spreads the pods of a Deployment over machines, or what the values name. Takes what video.selector takes. */}}
{{- define "video.spread" -}}
{{- with .root.Values.spreadOver -}}
topologySpreadConstraints:
  {{- range . }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "video.selector" $ | nindent 8 }}
  {{- end }}
{{- end -}}
{{- end -}}
