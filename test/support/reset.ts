import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import PostalMime, { type Email } from 'postal-mime';
import { MailWorker } from '../../src/mail/outbox/mail-worker';
import type { Answer, TestService } from './app';

export const uuid4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** A different valid password for each `n`. */
export const goodPassword = (n: number | string) => `Another-Horse-7-${n}`;

const seen = new WeakMap<TestService, Set<string>>();

/** Sends due mails and returns all mails since the last call, from `DATA_DIR/outbox` (no mail server is configured). */
export async function newMails(service: TestService): Promise<Email[]> {
  await service.app.get(MailWorker).sendDue();
  const known = seen.get(service) ?? new Set<string>();
  seen.set(service, known);
  const folder = join(service.dataDir, 'outbox');
  const files = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.eml') && !known.has(name));
  files.forEach((name) => known.add(name));
  return Promise.all(files.sort().map(async (name) => PostalMime.parse(await readFile(join(folder, name)))));
}

/** The link in the text of a mail. Throws unless there is exactly one. */
export function linkIn(mail: Email | undefined): URL {
  const links = mail?.text?.match(/https?:\/\/\S+\/reset-password\S*/g) ?? [];
  if (links.length !== 1) throw new Error(`expected one link in the mail, found ${links.length}`);
  return new URL(links[0]);
}

export const recipients = (mail: Email | undefined) => mail?.to?.map(({ address }) => address);

/** Requests a reset link and returns the mailed token. */
export async function mailedToken(service: TestService, email: string): Promise<string> {
  await newMails(service);
  const answer = await service.post('/forget-password', { email });
  if (answer.status !== 200) throw new Error(`/forget-password answered ${answer.body.error_code}`);
  const [mail] = await newMails(service);
  return String(linkIn(mail).searchParams.get('uid'));
}

export function submit(service: TestService, token: unknown, password: unknown, confirm = password): Promise<Answer> {
  return service.post('/user/change-pwd-by-req', { req_uid: token, password, confirm_password: confirm });
}

export function look(service: TestService, token: string): Promise<Answer> {
  return service.get(`/user/change-pwd-req/${token}`);
}

export const codeOf = (answer: Answer): string => (answer.status === 200 ? 'success' : String(answer.body.error_code));

/** The outcomes of both endpoints for a token: looking up the request, and then changing to a valid password. */
export async function verdicts(service: TestService, token: string): Promise<string[]> {
  return [codeOf(await look(service, token)), codeOf(await submit(service, token, goodPassword('verdict')))];
}
