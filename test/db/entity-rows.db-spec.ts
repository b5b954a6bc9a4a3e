import { IsNull, MoreThan, type Repository } from 'typeorm';
import { EntityRows } from '../../src/platform/database/entity-rows';
import { Passkey } from '../../src/passkeys/persistence/passkey.entity';
import { getRepositoryToken } from '@nestjs/typeorm';
import { TestService } from '../support/app';

const time = new Date('2026-01-02T03:04:05.678Z');

const passkey = (id: string) => ({
  ...{ id, userId: 'user', credentialHash: id, credentialId: id, publicKey: 'key', counter: 0, transports: '' },
  ...{ name: "O'Neill \\ ? `x`", backupEligible: true, backedUp: false, createdAt: time, lastUsedAt: null },
});

describe('the rows of an entity', () => {
  let service: TestService;
  let rows: EntityRows<Passkey>;
  beforeAll(async () => {
    service = await TestService.start();
    rows = new EntityRows(service.app.get<Repository<Passkey>>(getRepositoryToken(Passkey)), service.database);
  });
  afterAll(() => service.stop());
  beforeEach(() => service.database.affected('DELETE FROM passkeys'));

  it('come back as they were inserted: texts, times to the millisecond, flags and NULL', async () => {
    await rows.insert(service.database, passkey('a'));
    expect(await rows.findOne({ id: 'a' })).toEqual(Object.assign(new Passkey(), passkey('a')));
    expect(await rows.findOne({ id: 'b' })).toBeNull();
  });

  it('are found in the asked order, as many as asked', async () => {
    for (const id of ['a', 'c', 'b']) await rows.insert(service.database, passkey(id));
    const found = await rows.find({ userId: 'user' }, { order: { createdAt: 'ASC', id: 'DESC' }, limit: 2 });
    expect(found.map(({ id }) => id)).toEqual(['c', 'b']);
    expect(await rows.count({ userId: 'user', createdAt: MoreThan(new Date(time.getTime() - 1)) })).toBe(3);
    expect(await rows.count({ userId: 'user', createdAt: MoreThan(time) })).toBe(0);
  });

  it('are read by plain SQL with the columns of the entity, under an alias', async () => {
    await rows.insert(service.database, passkey('a'));
    const [row] = await service.database.rows<Record<string, unknown>>(`SELECT ${rows.columns('p')} FROM passkeys p`);
    expect(rows.read(row!, 'p')).toEqual(Object.assign(new Passkey(), passkey('a')));
  });

  it('a guarded write tells whether it won, and a second one finds no row', async () => {
    await rows.insert(service.database, passkey('a'));
    const use = () =>
      rows.won(service.database, { id: 'a', lastUsedAt: IsNull() }, { lastUsedAt: time, counter: () => 'counter + 1' });
    expect([await use(), await use()]).toEqual([true, false]);
    expect(await rows.findOne({ id: 'a' })).toMatchObject({ counter: 1, lastUsedAt: time });
  });

  it('a column is incremented in the database, by the name of its property', async () => {
    await rows.insert(service.database, passkey('a'));
    const count = () => rows.won(service.database, { id: 'a' }, rows.incremented('counter'));
    await Promise.all([count(), count(), count()]);
    expect((await rows.findOne({ id: 'a' }))?.counter).toBe(3);
  });

  it('of parallel inserts of one key the first one wins, and another failure is an error', async () => {
    const added = await Promise.all(Array.from({ length: 10 }, () => rows.added(service.database, passkey('a'))));
    expect(added.filter(Boolean)).toEqual([true]);
    expect(await rows.count({ userId: 'user' })).toBe(1);
    const nameless = { ...passkey('b'), name: null } as never;
    await expect(rows.added(service.database, nameless)).rejects.toThrow();
  });

  it('a guarded write that touches two rows fails', async () => {
    for (const id of ['a', 'b']) await rows.insert(service.database, passkey(id));
    const rename = service.database.transaction((tx) => rows.won(tx, { userId: 'user' }, { name: 'x' }));
    await expect(rename).rejects.toThrow('a guarded write touched 2 rows');
    expect((await rows.findOne({ id: 'a' }))?.name).not.toBe('x');
    expect(await rows.update(service.database, { userId: 'user' }, { name: 'y' })).toBe(2);
    expect(await rows.remove(service.database, { userId: 'user' })).toBe(2);
  });

  it('a write is rolled back with its transaction, and a read in the transaction sees it', async () => {
    const work = service.database.transaction(async (tx) => {
      await rows.insert(tx, passkey('a'));
      expect((await rows.findOne({ id: 'a' }, tx))?.id).toBe('a');
      throw new Error('undone');
    });
    await expect(work).rejects.toThrow('undone');
    expect(await rows.findOne({ id: 'a' })).toBeNull();
  });

  it.each([{}, { id: undefined }] as never[])(
    'a condition without a value is an error, not every row of the table: %j',
    async (where) => {
      await rows.insert(service.database, passkey('a'));
      const attempts = [
        () => rows.find(where),
        () => rows.count(where),
        () => rows.update(service.database, where, { name: 'x' }),
        () => rows.won(service.database, where, { name: 'x' }),
        () => rows.remove(service.database, where),
      ];
      for (const attempt of attempts) await expect((async () => attempt())()).rejects.toThrow(TypeError);
      expect(await rows.findOne({ id: 'a' })).toMatchObject({ name: passkey('a').name });
    },
  );

  it('null equals nothing, so input without a type finds and changes no row', async () => {
    await rows.insert(service.database, passkey('a'));
    for (const where of [{ id: null }, { lastUsedAt: null }] as never[]) {
      expect([await rows.findOne(where), await rows.count(where)]).toEqual([null, 0]);
      expect(await rows.won(service.database, where, { name: 'x' })).toBe(false);
      expect(await rows.remove(service.database, where)).toBe(0);
    }
    expect(await rows.findOne({ id: 'a' })).toMatchObject({ name: passkey('a').name });
  });

  it('an object in the place of a value is an error (W42)', async () => {
    await rows.insert(service.database, passkey('a'));
    const object = { toString: () => 'a' } as never;
    await expect((async () => rows.findOne({ id: object }))()).rejects.toThrow();
    await expect((async () => rows.remove(service.database, { id: ['a', 'b'] as never }))()).rejects.toThrow();
    expect(await rows.count({ userId: 'user' })).toBe(1);
  });
});
