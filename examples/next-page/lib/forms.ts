import { settings } from './settings';

/** The fields of a form of this site. Undefined: another site has sent it, so answer 403. */
export async function ownForm(request: Request): Promise<((name: string) => string) | undefined> {
  if (request.headers.get('origin') !== settings.origin()) return undefined;
  const form = await request.formData();
  return (name) => {
    const value = form.get(name);
    return typeof value === 'string' ? value : '';
  };
}

export const forbidden = (): Response => new Response('This form is of another site.', { status: 403 });

/** 303: the browser asks for the page with GET, so a reload does not send the form again. */
export const goTo = (path: string): Response => new Response(null, { status: 303, headers: { location: path } });
