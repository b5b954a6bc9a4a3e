import { partsOf } from './parts';

describe('the parts of a search', () => {
  it('the longest word leads the last part where no way is short enough, and the number of a place leads it again', () => {
    const leader = (after?: number) =>
      partsOf({ query: 'an mueller' }, { maxCount: 3, since: new Date(0) }, undefined, after).list.at(-1)!.number;
    expect([leader(), leader(3), leader(4)]).toEqual([4, 3, 4]);
  });
});
