import type { Measurement } from './measurement';

/** Written by `npm run check:migrations`. Estimates of `upgrade --check` come from here. */
export const measured: Measurement = {
  at: '2026-11-26',
  source: 'MariaDB 10.11.19-MariaDB-0+deb12u1, 2 busy processors, no wait for the disk',
  rows: {
    users: 1000000,
    login_tokens: 1000000,
    login_logs: 1333334,
    audit_logs: 666666,
    event_outbox: 100000,
    mail_outbox: 1000000,
  },
  migrations: {
    NicknameKey1766900000000: {
      seconds: 17,
      longestLoginSeconds: 0.11,
      changes: [
        {
          table: 'users',
          kind: 'online',
          seconds: 4,
          statements: 4,
        },
        {
          table: 'users',
          kind: 'rows',
          seconds: 13,
          statements: 1000,
        },
      ],
    },
    SessionIndexes1767000000000: {
      seconds: 5.1,
      longestLoginSeconds: 0.21,
      changes: [
        {
          table: 'login_tokens',
          kind: 'online',
          seconds: 5.1,
          statements: 4,
        },
      ],
    },
    EventReplay1767300000000: {
      seconds: 0.12,
      longestLoginSeconds: 0.0045,
      changes: [
        {
          table: 'event_outbox',
          kind: 'online',
          seconds: 0.091,
          statements: 1,
        },
      ],
    },
    LogRequestIds1767400000000: {
      seconds: 3.4,
      longestLoginSeconds: 0.035,
      changes: [
        {
          table: 'login_logs',
          kind: 'online',
          seconds: 2.2,
          statements: 1,
        },
        {
          table: 'audit_logs',
          kind: 'online',
          seconds: 1.2,
          statements: 1,
        },
      ],
    },
    RevocationRuns1767500000000: {
      seconds: 0.044,
      longestLoginSeconds: 0.0079,
      changes: [],
    },
    RefreshTokenAudience1767600000000: {
      seconds: 0.0056,
      longestLoginSeconds: 0.0013,
      changes: [],
    },
    PendingReauthentications1767620000000: {
      seconds: 0.049,
      longestLoginSeconds: 0.00083,
      changes: [],
    },
    UserLanguage1768000000000: {
      seconds: 0.024,
      longestLoginSeconds: 0.016,
      changes: [],
    },
    Proofs1769000000000: {
      seconds: 0.014,
      longestLoginSeconds: 0.0016,
      changes: [],
    },
    Applications1769100000000: {
      seconds: 0.03,
      longestLoginSeconds: 0.0067,
      changes: [],
    },
    ProvenAddresses1769200000000: {
      seconds: 0.029,
      longestLoginSeconds: 0.021,
      changes: [],
    },
    IdentityProviders1769300000000: {
      seconds: 3.5,
      longestLoginSeconds: 0.091,
      changes: [
        {
          table: 'users',
          kind: 'online',
          seconds: 3.2,
          statements: 2,
        },
      ],
    },
    Groups1769400000000: {
      seconds: 0.08,
      longestLoginSeconds: 0.022,
      changes: [],
    },
    ScimClients1769500000000: {
      seconds: 0.021,
      longestLoginSeconds: 0.001,
      changes: [],
    },
    Offboardings1769600000000: {
      seconds: 0.061,
      longestLoginSeconds: 0.0025,
      changes: [],
    },
    UserRoles1769700000000: {
      seconds: 0.019,
      longestLoginSeconds: 0.013,
      changes: [],
    },
    UserWords1769800000000: {
      seconds: 280,
      longestLoginSeconds: 0.42,
      changes: [
        {
          table: 'users',
          kind: 'online',
          seconds: 9.3,
          statements: 4,
        },
        {
          table: 'user_words',
          kind: 'rows',
          seconds: 270,
          statements: 2000,
        },
      ],
    },
    LogLoginNames1770200000000: {
      seconds: 4.4,
      longestLoginSeconds: 0.14,
      changes: [
        {
          table: 'login_logs',
          kind: 'online',
          seconds: 4.4,
          statements: 1,
        },
      ],
    },
    Brands1770300000000: {
      seconds: 0.031,
      longestLoginSeconds: 0.0065,
      changes: [],
    },
    EventReceivers1770500000000: {
      seconds: 0.038,
      longestLoginSeconds: 0.013,
      changes: [],
    },
    LegacyLogins1770700000000: {
      seconds: 0.05,
      longestLoginSeconds: 0.03,
      changes: [],
    },
    EnabledAt1770800000000: {
      seconds: 0.04,
      longestLoginSeconds: 0.026,
      changes: [],
    },
    MailUrgency1770900000000: {
      seconds: 3.2,
      longestLoginSeconds: 0.17,
      changes: [
        {
          table: 'mail_outbox',
          kind: 'online',
          seconds: 3.2,
          statements: 1,
        },
      ],
    },
  },
};
