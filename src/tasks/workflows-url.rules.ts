/**
 * The URL of the workflows in the Temporal UI, or null if no UI is configured. The id of a workflow
 * is appended to it; that of a task is its own.
 */
export function workflowsUrl({
  temporalUiUrl,
  temporalNamespace,
}: {
  readonly temporalUiUrl: string | null;
  readonly temporalNamespace: string;
}): string | null {
  if (!temporalUiUrl) return null;
  const base = temporalUiUrl.replace(/\/+$/, '');
  return `${base}/namespaces/${encodeURIComponent(temporalNamespace)}/workflows/`;
}
