import { PasswordHasher } from '../../src/hashing/password-hasher';
import type { TestService } from './app';
import { eventually } from './servers/eventually';

/**
 * Every password comparison of the service waits until the test releases it. A login that waits here has read the row
 * of its user and has no result yet, so the test decides in which order parallel guesses are compared.
 */
export class HeldComparisons {
  private readonly held = new Map<string, () => void>();

  constructor(service: TestService) {
    const hasher = service.app.get(PasswordHasher);
    const matches = hasher.matches.bind(hasher);
    jest.spyOn(hasher, 'matches').mockImplementation(async (password, ...rest) => {
      await new Promise<void>((resolve) => this.held.set(password, resolve));
      return matches(password, ...rest);
    });
  }

  /** Resolves when this many different passwords wait. */
  async arrived(count: number): Promise<void> {
    await eventually(() => this.held.size === count, { what: `${count} comparisons wait` });
  }

  release(...passwords: string[]): void {
    for (const password of passwords) {
      const release = this.held.get(password);
      if (release === undefined) throw new Error('no comparison of this password waits');
      this.held.delete(password);
      release();
    }
  }
}
