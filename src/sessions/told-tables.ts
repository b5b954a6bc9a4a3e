import type { ToldTable } from '../platform/database/told-rows';

/** The first row of a session tells about it. The others are its tokens, of which nothing but their ids and times is kept. */
export const toldSessions: ToldTable = {
  table: 'login_tokens',
  section: 'sessions',
  user: 'user_identity',
  order: ['sid'],
  only: "token_type = 'refresh' AND jti = sid",
  columns: {
    ...{ sid: 'value', created_at: 'time', expires: 'time', last_used_at: 'time', authenticated_at: 'time' },
    ...{ is_revoked: 'flag', ip: 'value', user_agent: 'value', amr: 'value' },
    ...{ jti: 'internal', token_type: 'internal', credential_version: 'internal' },
    ...{ successor_jti: 'internal', succeeded_at: 'internal' },
  },
};

export const toldDevices: ToldTable = {
  table: 'trusted_devices',
  user: 'user_id',
  order: ['id'],
  columns: {
    ...{ id: 'value', ip: 'value', user_agent: 'value', created_at: 'time', last_used_at: 'time' },
    ...{ replaced_at: 'time', ended_at: 'time', expires: 'time' },
    ...{ series_hash: 'withheld', token_hash: 'withheld', previous_hash: 'withheld', credential_version: 'internal' },
  },
};

export const toldPendingLogins: ToldTable = {
  table: 'pending_logins',
  user: 'user_id',
  order: ['id'],
  columns: {
    ...{ id: 'value', sid: 'value', channel: 'value', ip: 'value', created_at: 'time', expires: 'time' },
    ...{ code_expires: 'time', attempts: 'number', is_closed: 'flag' },
    ...{ bound_to: 'withheld', token_hash: 'withheld', code_hash: 'withheld', credential_version: 'internal' },
  },
};

/** A browser is a hash of what it sends. */
export const toldBrowsers: ToldTable = {
  table: 'known_browsers',
  user: 'user_id',
  order: ['browser'],
  columns: { browser: 'withheld', seen_at: 'time' },
};
