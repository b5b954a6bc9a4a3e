import { guardedRequest } from '../../platform/http/guarded-request';

export interface PostedForm {
  readonly url: string;
  readonly form: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Production sends nothing by http. */
  readonly https: boolean;
}

/** What the receiver did: its status, or why there is none. A code or a fixed word, without the URL. */
export type PostOutcome = { readonly status: number } | { readonly failure: string };

/** Posts a form to an application. Private addresses are allowed, because applications of a company are there. It never throws. */
export async function guardedPost({ form, ...rest }: PostedForm): Promise<PostOutcome> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const body = new URLSearchParams(form).toString();
  const outcome = await guardedRequest({ ...rest, method: 'POST', headers, body });
  return 'failure' in outcome ? outcome : { status: outcome.status };
}
