import { FakeClock } from '../../../test/support/fakes';
import { PageStarts, type SortedList } from './page-starts';

/** A list of a thousand rows, and what was asked of the database. */
class Rows {
  readonly asked: string[] = [];
  all = Array.from({ length: 1000 }, (_, n) => String(n).padStart(4, '0'));
  readonly clock = new FakeClock();
  readonly starts = new PageStarts(this.clock);

  page(skip: number, limit: number, name = 'list', few = false, reader = 'client') {
    const order = { column: 'name', descending: false };
    const list: SortedList = { where: { text: 'kind = ?', values: [name] }, order, few };
    return this.starts.page(list, { reader, skip, limit, descending: false }, this);
  }

  rows({ values: [, after = ''] }: { values: readonly unknown[] }, _order: string, limit: number, skip: number) {
    this.asked.push(`${String(after)}+${skip}`);
    const rows = this.all.filter((name) => name > String(after)).slice(skip, skip + limit);
    return Promise.resolve(rows.map((name) => ({ id: name, place: name })));
  }

  count({ values: [, after = ''] }: { values: readonly unknown[] }) {
    this.asked.push('count');
    return Promise.resolve(this.all.filter((name) => name > String(after)).length);
  }
}

describe('pages by position', () => {
  it('a page begins behind the page before it, and the total is counted once', async () => {
    const rows = new Rows();
    for (const skip of [0, 100, 200]) expect((await rows.page(skip, 100)).total).toBe(1000);
    expect(rows.asked).toEqual(['+0', 'count', '0099+0', '0199+0']);
  });

  it('a page that this process has not led to begins at the nearest start before it', async () => {
    const rows = new Rows();
    await rows.page(0, 100);
    await rows.page(300, 100);
    await rows.page(250, 10);
    expect(rows.asked.filter((one) => one !== 'count')).toEqual(['+0', '0099+200', '0099+150']);
  });

  it('each list has starts of its own', async () => {
    const rows = new Rows();
    await rows.page(0, 100);
    await rows.page(100, 100, 'another');
    expect(rows.asked).toContain('+100');
  });

  it('two clients that read a list at once miss no row, and see none twice (T660)', async () => {
    const rows = new Rows();
    const pages = [await rows.page(0, 400, 'list', false, 'one')];
    const stay = rows.all.slice(1);
    rows.all = stay;
    await rows.page(0, 400, 'list', false, 'two');
    for (const skip of [400, 800]) pages.push(await rows.page(skip, 400, 'list', false, 'one'));
    expect(pages.flatMap((page) => page.rows.map(({ id }) => id))).toEqual(['0000', ...stay]);
  });

  it('the first page and a page without rows are counted, and so is what lies beyond the former total', async () => {
    const rows = new Rows();
    await rows.page(0, 500);
    rows.all.push('1001');
    expect(await rows.page(500, 500)).toMatchObject({ total: 1001 });
    expect(await rows.page(1000, 500)).toEqual({ total: 1001, rows: [{ id: '1001', place: '1001' }] });
    expect(await rows.page(0, 0)).toEqual({ total: 1001, rows: [] });
    expect((await rows.page(5000, 10)).total).toBe(1001);
    expect((await rows.page(0, 1)).total).toBe(1001);
  });

  it('a walk that ends early says the total that it has found', async () => {
    const rows = new Rows();
    await rows.page(0, 400);
    rows.all = rows.all.slice(300);
    expect((await rows.page(400, 400)).total).toBe(1000);
    expect(await rows.page(800, 400)).toMatchObject({ total: 1000 });
    rows.all = rows.all.slice(0, 50);
    expect(await rows.page(400, 400)).toEqual({ total: 400, rows: [] });
  });

  it('a start is forgotten after five minutes, and none is kept of a search that finds few rows', async () => {
    const rows = new Rows();
    await rows.page(0, 100);
    rows.clock.advanceSeconds(301);
    await rows.page(100, 100);
    await rows.page(0, 100, 'few', true);
    await rows.page(100, 100, 'few', true);
    expect(rows.asked.filter((one) => one !== 'count')).toEqual(['+0', '+100', '+0', '+100']);
  });

  it('so many lists and so many starts of a list are kept, and no more (T660)', async () => {
    const rows = new Rows();
    for (let n = 0; n < 40; n++) await rows.page(0, 10, `list ${n}`);
    for (let n = 0; n < 40; n++) await rows.page(n * 10, 10, 'long');
    rows.asked.length = 0;
    await rows.page(10, 10, 'list 0');
    await rows.page(10, 10, 'list 39');
    await rows.page(40, 10, 'long');
    await rows.page(400, 10, 'long');
    expect(rows.asked.filter((one) => one !== 'count')).toEqual(['+10', '0009+0', '+40', '0399+0']);
  });
});
