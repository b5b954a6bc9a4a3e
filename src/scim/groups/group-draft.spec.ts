import { operationsOf } from '../protocol/patch';
import { editOf } from './group-draft';

const edit = (...operations: unknown[]) => editOf(operationsOf({ Operations: operations }));
const members = (op: string, ...value: string[]) => ({ op, path: 'members', value });

describe('the members after a PATCH', () => {
  it('are those of the operations in their order', () => {
    expect(edit(members('add', 'a', 'b'), members('remove', 'b', 'c'), members('add', 'c')).members).toEqual({
      joins: new Set(['a', 'c']),
      leaves: new Set(['b']),
    });
    expect(edit(members('add', 'a'), members('replace', 'b', 'c'), members('remove', 'b')).members).toEqual({
      all: new Set(['c']),
    });
    expect(edit({ op: 'remove', path: 'members' }, members('add', 'a')).members).toEqual({ all: new Set(['a']) });
    expect(edit({ op: 'replace', path: 'displayName', value: 'x' })).toEqual({ displayName: 'x', members: undefined });
  });

  it.each(['add', 'remove'])('T769 many operations that name many members cost no more than the members: %s', (op) => {
    const operations = Array.from({ length: 200 }, (_, n) =>
      members(op, ...Array.from({ length: 5 }, (_, i) => `${n}-${i}`)),
    );
    const added = jest.spyOn(Set.prototype, 'add');
    try {
      edit(...operations);
      expect(added.mock.calls.length).toBeLessThan(3000);
    } finally {
      added.mockRestore();
    }
  });
});
