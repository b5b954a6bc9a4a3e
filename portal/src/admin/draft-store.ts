/** What one administrator has typed into forms, by the place of the form. */
interface Kept {
  readonly uid: string;
  readonly drafts: Readonly<Record<string, object>>;
}

/** A text that this tab keeps. */
interface Memory {
  get(): string | undefined;
  set(text: string | undefined): void;
}

/**
 * Keeps the changed fields of a form whose session has ended, in this tab, until the form is open again or another user has
 * signed in. The sign-in can lead over an identity provider, so memory alone would not do. The caller leaves out what is secret.
 */
export class DraftStore {
  constructor(private readonly memory: Memory) {}

  keep(uid: string, key: string, values: object): void {
    this.write(uid, { ...this.read(uid), [key]: values });
  }

  /** The fields that were kept for this administrator. What another one has typed is removed. */
  kept(uid: string, key: string): object | undefined {
    const drafts = this.read(uid);
    if (Object.keys(drafts).length === 0) this.memory.set(undefined);
    return drafts[key];
  }

  remove(uid: string, key: string): void {
    const { [key]: removed, ...others } = this.read(uid);
    if (removed !== undefined) this.write(uid, others);
  }

  private read(uid: string): Kept['drafts'] {
    try {
      const found = JSON.parse(this.memory.get() ?? '{}') as Partial<Kept>;
      return (found.uid === uid && found.drafts) || {};
    } catch {
      return {};
    }
  }

  private write(uid: string, drafts: Kept['drafts']): void {
    const some = Object.keys(drafts).length > 0;
    this.memory.set(some ? JSON.stringify({ uid, drafts } satisfies Kept) : undefined);
  }
}
