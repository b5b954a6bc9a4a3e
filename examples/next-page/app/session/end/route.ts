import { forbidden, goTo, ownForm } from '../../../lib/forms';
import { endSession } from '../../../lib/session';

export async function POST(request: Request): Promise<Response> {
  if ((await ownForm(request)) === undefined) return forbidden();
  await endSession();
  return goTo('/sign-in');
}
