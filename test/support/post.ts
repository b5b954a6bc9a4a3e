/** Sends a JSON request to a service in another process. */
export async function post(
  service: { readonly url: string },
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
) {
  const response = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
}
