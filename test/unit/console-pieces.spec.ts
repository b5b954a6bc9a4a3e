import { clashesOf } from '../../portal/src/admin/clash';
import { DraftStore } from '../../portal/src/admin/draft-store';
import { matches, moved } from '../../portal/src/admin/palette/matching';
import { forgetRecent, noteRecent, recentPages } from '../../portal/src/admin/recent';
import { complain, dismiss, dismissAll, say, shownToasts } from '../../portal/src/admin/toasts';

describe('the palette', () => {
  it.each([
    ['Audit log', 'log', true],
    ['Audit log', 'lo au', true],
    ['Audit log', 'og', false],
    ['Gruppe löschen', 'loschen', true],
    ['Straße', 'strass', true],
    ['密码策略', '策略', true],
    ['Off-board user', 'board', true],
    ['Audit log', '', true],
  ])('%s for "%s": %s', (text, query, found) => expect(matches(text, query)).toBe(found));

  it('moves around the end, and nowhere in an empty list', () => {
    expect([moved('ArrowDown', 2, 3), moved('ArrowUp', 0, 3), moved('PageDown', 0, 3)]).toEqual([0, 2, 2]);
    expect([moved('ArrowDown', 0, 0), moved('a', 0, 3)]).toEqual([undefined, undefined]);
  });

  it('shows each page once, the latest first, without the page that is shown', () => {
    for (const href of ['#/a', '#/b', '#/a', '#/c']) noteRecent(href, href);
    expect(recentPages('#/c').map(({ href }) => href)).toEqual(['#/a', '#/b']);
    forgetRecent();
    expect(recentPages('#/c')).toEqual([]);
  });
});

describe('the results of actions', () => {
  afterEach(dismissAll);
  const texts = () => shownToasts.get().map(({ text, error }) => (error === undefined ? text : 'refused'));

  it('older results make place, and refusals stay until they are dismissed', () => {
    complain(new Error('refused'));
    for (const text of ['one', 'two', 'three', 'four']) say(text);
    expect(texts()).toEqual(['refused', 'two', 'three', 'four']);
    dismiss(shownToasts.get()[0]!.id);
    expect(texts()).toEqual(['two', 'three', 'four']);
  });
});

describe('a form', () => {
  const before = { name: 'a', uris: ['x'], listed: false };

  it('clashes only in fields that both have changed, to different values', () => {
    const saved = { name: 'b', uris: ['y'], listed: true };
    expect(clashesOf(before, { name: 'c', uris: ['x'], listed: true }, saved)).toEqual(['name']);
    expect(clashesOf(before, before, saved)).toEqual([]);
    expect(clashesOf(before, { ...before, uris: ['x', 'z'] }, before)).toEqual([]);
  });

  it('what one administrator had typed is there again for the same one only', () => {
    let text: string | undefined;
    const drafts = new DraftStore({ get: () => text, set: (next) => (text = next) });
    drafts.keep('ada', '/users/1 profile', { nickname: 'Ann' });
    drafts.keep('ada', '/settings/mail mail', { HOST: 'h' });
    expect(drafts.kept('ada', '/users/1 profile')).toEqual({ nickname: 'Ann' });
    drafts.remove('ada', '/users/1 profile');
    expect(drafts.kept('ada', '/users/1 profile')).toBeUndefined();
    expect(drafts.kept('ada', '/settings/mail mail')).toEqual({ HOST: 'h' });
    expect(drafts.kept('ben', '/settings/mail mail')).toBeUndefined();
    expect(drafts.kept('ada', '/settings/mail mail')).toBeUndefined();
  });
});
