import { factLines, wrapped } from './plain-text';

const columns = (line: string) =>
  [...line].reduce((sum, char) => sum + (/[\p{Script=Han}\u3000-\u303F\uFF00-\uFF60]/u.test(char) ? 2 : 1), 0);

describe('the plain text of a mail', () => {
  it('has lines of at most 76 columns, and keeps every word', () => {
    const text = 'Somebody signed in to your account from a browser that was not used for it before. '.repeat(4).trim();
    expect(Math.max(...wrapped(text).split('\n').map(columns))).toBeLessThanOrEqual(76);
    expect(wrapped(text).replace(/\n/g, ' ')).toBe(text);
  });

  it('breaks Chinese text between characters, and begins no line with a closing mark', () => {
    const text =
      '请勿将验证码告知他人，portal.example.com 的工作人员绝不会向您索要。如果您此刻并未登录，说明有人知道您的密码。'.repeat(
        3,
      );
    const lines = wrapped(text).split('\n');
    expect(Math.max(...lines.map(columns))).toBeLessThanOrEqual(76);
    for (const line of lines) expect(line).not.toMatch(/^[，。；：！？、）]/);
    expect(lines.join('').replace(/ /g, '')).toBe(text.replace(/ /g, ''));
  });

  it('keeps a long address and a time in one piece', () => {
    const address = `https://portal.example.com/${'a'.repeat(90)}`;
    expect(wrapped(`Open ${address} now`).split('\n')).toContain(address);
    const time = 'valid for 30 minutes (until 2026-03-02 10:30 UTC)';
    expect(wrapped(`${'word '.repeat(11)}the link is ${time} and works once`)).toContain(time);
  });

  it('has the colons of the facts below each other, also where the labels are Chinese', () => {
    const facts = [
      { label: 'Time', value: '10:00' },
      { label: 'IP address', value: '203.0.113.7' },
      { label: '用户名', value: 'alice' },
    ];
    const places = factLines(facts)
      .split('\n')
      .map((line) => columns(line.slice(0, line.indexOf(': '))));
    expect(new Set(places).size).toBe(1);
  });
});
