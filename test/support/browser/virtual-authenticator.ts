import type { CDPSession, Page } from 'playwright-core';

interface VirtualAuthenticatorOptions {
  /** A password manager copies the passkeys to other devices. */
  readonly synced?: boolean;
  /**
   * The browser offers passkeys in the autofill. Chromium then chooses one as soon as the page asks, because there is
   * no window in which the user could.
   */
  readonly autofill?: boolean;
}

interface Ceremony {
  /** `conditional` is autofill. */
  readonly mediation: 'conditional' | 'prompt';
  readonly aborted: boolean;
}

/**
 * An authenticator that Chromium simulates for the later pages of one tab: it keeps passkeys and verifies its user.
 * While its user is present, Chromium answers each prompt and each autofill at once.
 */
export class VirtualAuthenticator {
  private constructor(
    private readonly page: Page,
    private readonly session: CDPSession,
    private readonly authenticatorId: string,
  ) {}

  static async add(page: Page, options: VirtualAuthenticatorOptions = {}): Promise<VirtualAuthenticator> {
    const { synced = true, autofill = false } = options;
    // The page notes which passkeys it has asked for, so that a test can wait for that.
    await page.addInitScript(`
      globalThis.ceremonies = [];
      const get = navigator.credentials.get.bind(navigator.credentials);
      navigator.credentials.get = (options) => {
        const { signal, mediation = 'prompt' } = options;
        ceremonies.push({ mediation, get aborted() { return signal.aborted; } });
        return get(options);
      };
      if (!${autofill}) PublicKeyCredential.isConditionalMediationAvailable = async () => false;
    `);
    const session = await page.context().newCDPSession(page);
    await session.send('WebAuthn.enable', { enableUI: false });
    const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        ctap2Version: 'ctap2_1',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
        defaultBackupEligibility: synced,
        defaultBackupState: synced,
      },
    });
    return new VirtualAuthenticator(page, session, authenticatorId);
  }

  /** From now on, prompts are not answered, and nothing is chosen in the autofill. */
  async userLeaves(): Promise<void> {
    const { authenticatorId } = this;
    await this.session.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled: false });
  }

  /** False: the finger or the PIN is wrong. The browser then tells the page the same as for a closed prompt. */
  async recognises(isUserVerified: boolean): Promise<void> {
    await this.session.send('WebAuthn.setUserVerified', { authenticatorId: this.authenticatorId, isUserVerified });
  }

  /** What the page has asked for since it was loaded. */
  async ceremonies(): Promise<readonly Ceremony[]> {
    return this.page.evaluate<Ceremony[]>('ceremonies.map(({ mediation, aborted }) => ({ mediation, aborted }))');
  }

  /** The number of passkeys. */
  async count(): Promise<number> {
    const { authenticatorId } = this;
    return (await this.session.send('WebAuthn.getCredentials', { authenticatorId })).credentials.length;
  }
}
