// Users with names as a company has them, their words, logs, sessions and groups, for bench/lists.mjs and bench/years.mjs. SQL makes them from two
// tables of names, the frequent ones first: the first name of the list has about one user of fourteen.

const firstNames =
  'anna thomas maria michael julia andreas laura stefan sarah peter lena markus lisa daniel katharina christian eva martin sophie wolfgang nina klaus elena tobias clara jonas amelie felix johanna paul mia lukas emma leon hannah ben lea noah marie elias paula finn ida luca greta oskar frieda emil mathilda anton rosa henry ada theo alma jakob elif mehmet ayse ali zeynep mustafa fatma can olga ivan natalia dmitri irina sergej wei li min jing chen hiro yuki sakura aiko raj priya amit sunita arjun kofi amara kwame zola pierre claire luc chloe giulia marco chiara luigi carlos lucia javier carmen ingrid lars astrid sven'.split(
    ' ',
  );
const lastNames =
  'müller schmidt schneider fischer weber meyer wagner becker schulz hoffmann schäfer koch bauer richter klein wolf schröder neumann schwarz zimmermann braun krüger hofmann hartmann lange schmitt werner schmitz krause meier lehmann schmid schulze maier köhler herrmann könig walter mayer huber kaiser fuchs peters lang scholz möller weiß jung hahn schubert vogel friedrich keller günther frank berger winkler roth beck lorenz baumann franke albrecht schuster simon ludwig böhm winter kraus martin schumacher krämer vogt stein jäger otto sommer groß seidel heinrich brandt haas schreiber graf schulte dietrich ziegler kuhn kühn pohl engel horn busch bergmann thomas voigt sauer arnold wolff pfeiffer yilmaz kaya demir nowak kowalski novak ivanov petrov wang zhang liu nguyen tran kumar singh patel garcia lopez rossi russo dubois martinez jansen visser'.split(
    ' ',
  );
/** One family name of five is one of this many rare names, which only a few people have. */
const rareNames = 20_000;

/** One user of a hundred belongs to the smallest tenant of these, and six of ten to `root`. */
const tenant = `ELT(1 + (seq * 31 MOD 100 >= 60) + (seq * 31 MOD 100 >= 90) + (seq * 31 MOD 100 >= 99), 'root', 'acme', 'globex', 'small')`;
/** 78 of 100 are enabled, 15 disabled, 5 expired and 2 not enabled. */
const status = `CASE WHEN seq * 37 MOD 100 < 78 THEN 1 WHEN seq * 37 MOD 100 < 93 THEN -1 WHEN seq * 37 MOD 100 < 98 THEN -2 ELSE 0 END`;
const now = 'UTC_TIMESTAMP(3)';
const plain = (text) => text.normalize('NFD').replace(/\p{M}/gu, '').replaceAll('ß', 'ss');
const german = (text) => text.replace(/[äöüß]/g, (letter) => ({ ä: 'ae', ö: 'oe', ü: 'ue', ß: 'ss' })[letter]);
const uuid = (text) => `INSERT(INSERT(INSERT(INSERT(MD5(${text}), 9, 0, '-'), 14, 0, '-'), 19, 0, '-'), 24, 0, '-')`;
/** A number below `count`, small ones more often. */
const skewed = (count, salt) => `FLOOR(${count} * POW(CRC32(CONCAT('${salt}', seq)) / 4294967296, 2))`;

const named = (table, names) =>
  `CREATE TABLE ${table} (n INT PRIMARY KEY, name VARCHAR(64), plain VARCHAR(64), german VARCHAR(64));
   INSERT INTO ${table} VALUES ${names.map((name, n) => `(${n}, '${name}', '${plain(name)}', '${german(name)}')`).join(', ')};`;

/** An id that grows with `n`, so that a table of millions is filled in the order of its primary key. */
const growingUuid = (n, count) => {
  const digits = `CONCAT(LPAD(LOWER(HEX(FLOOR((${n}) * 4294967295 / ${count}))), 8, '0'), SUBSTR(MD5(${n}), 9))`;
  return `INSERT(INSERT(INSERT(INSERT(${digits}, 9, 0, '-'), 14, 0, '-'), 19, 0, '-'), 24, 0, '-')`;
};

/** Rows of one user, and the seconds between two logins of all users. */
const fewRows = { logins: 3, audits: 1, tokens: 0, passwords: 0, browsers: 0, mails: 0, secondsPerLogin: 1 };

/** The statements that fill the tables, in order. Each names the table whose indexes are made again after it. */
function fills(users, rows) {
  const [logins, audits, tokens] = [rows.logins * users, rows.audits * users, rows.tokens * users];
  /** The user, and the session, of row `seq` of `login_tokens`: each user has one session, whose other tokens have distant ids. */
  const owner = `((seq DIV ${rows.tokens} + (seq MOD ${rows.tokens}) * 104729) MOD ${users})`;
  const user = (seq) => uuid(`CONCAT('user', ${seq})`);
  return [
    [
      'users',
      `INSERT INTO users (uid, login_name, login_name_key, email, email_key, nickname, nickname_key, status, tenant_id,
         login_failed_count, last_login_failed_time, created_at, last_login_success_time)
       SELECT uid, login, login, CONCAT(login, '@example.com'), CONCAT(login, '@example.com'), nickname, nickname, status, tenant,
         failed, IF(failed > 0, ${now} - INTERVAL seq MOD 600 SECOND, NULL), ${now} - INTERVAL seq * 7 MOD 2000 HOUR,
         IF(seq MOD 10 = 0, NULL, ${now} - INTERVAL seq MOD 500000 SECOND)
       FROM (SELECT s.*, CONCAT(SUBSTR(f.plain, 1, 1), '.', l.plain, '.', s.seq) AS login, CONCAT(f.name, ' ', l.name) AS nickname
             FROM bench_people s JOIN bench_first f ON f.n = s.first JOIN bench_last l ON l.n = s.last) p ORDER BY uid`,
    ],
    [
      'user_words',
      `INSERT IGNORE INTO user_words (user_id, word, tenant_id)
       SELECT uid, word, tenant FROM (
         ${['first.plain', 'first.german', 'last.plain', 'last.german']
           .map((column) => column.split('.'))
           .map(
             ([t, c]) => `SELECT s.uid, n.${c} AS word, s.tenant FROM bench_people s JOIN bench_${t} n ON n.n = s.${t}`,
           )
           .join(' UNION ALL ')}
         UNION ALL SELECT uid, login_name_key, tenant_id FROM users
         UNION ALL SELECT uid, email_key, tenant_id FROM users) w ORDER BY uid, word`,
    ],
    [
      'login_logs',
      `INSERT INTO login_logs (user_id, login_name, provider, ip, user_agent, outcome, mfa, request_id, created_at)
       SELECT IF(seq MOD 50 = 0, NULL, ${user(`seq * 7919 MOD ${users}`)}), CONCAT('typed', seq * 7919 MOD ${users}), 'password',
         CONCAT('10.', seq MOD 200, '.', seq DIV 7 MOD 100, '.', seq MOD 90), 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Firefox/145.0',
         CASE WHEN seq MOD 50 = 0 THEN 'USER_404001' WHEN seq MOD 20 = 1 THEN 'LOGIN_401001' ELSE 'success' END, 'email',
         ${uuid("CONCAT('request', seq)")}, ${now} - INTERVAL FLOOR((${logins} - seq) * ${rows.secondsPerLogin}) SECOND FROM seq_1_to_${logins}`,
    ],
    [
      'audit_logs',
      `INSERT INTO audit_logs (event, user_id, actor_id, ip, user_agent, request_id, detail, created_at)
       SELECT ELT(1 + seq MOD 4, 'USER_PASSWORD_CHANGED', 'SESSION_CLOSED', 'USER_UPDATED', 'USER_DISABLED'), ${user(`seq * 7919 MOD ${users}`)},
         IF(seq MOD 4 > 1, ${user('seq MOD 10')}, NULL), '10.0.0.1', 'Mozilla/5.0', ${uuid("CONCAT('audit', seq)")}, '{}',
         ${now} - INTERVAL FLOOR((${audits} - seq) * 3 * ${rows.secondsPerLogin}) SECOND FROM seq_1_to_${audits}`,
    ],
    [
      'user_groups',
      `INSERT INTO user_groups (id, tenant_id, name, name_key, source, version, created_at, changed_at)
       SELECT ${uuid("CONCAT('group', seq)")}, ${tenant}, CONCAT('Group ', seq), CONCAT('group ', seq), 'local', 1, ${now}, ${now}
       FROM seq_0_to_${Math.ceil(users / 200)}`,
    ],
    [
      'user_group_members',
      `INSERT IGNORE INTO user_group_members (group_id, user_id, added_at)
       SELECT ${uuid(`CONCAT('group', seq MOD ${Math.ceil(users / 200)})`)}, uid, ${now} FROM bench_people
       UNION ALL SELECT ${uuid("CONCAT('group', 0)")}, uid, ${now} FROM bench_people WHERE seq MOD 10 = 0`,
    ],
    [
      'login_tokens',
      // None has expired: what is old is up to the caller.
      `INSERT INTO login_tokens (jti, sid, token_type, user_identity, is_revoked, expires, credential_version, ip, user_agent, amr,
         authenticated_at, created_at)
       SELECT ${growingUuid('seq', tokens)}, ${growingUuid(`${owner} * ${rows.tokens}`, tokens)},
         IF(seq MOD ${rows.tokens} = 0, 'refresh', 'access'), ${user(owner)}, 0, ${now} + INTERVAL 1 + CRC32(seq) MOD 6 DAY, 0,
         IF(seq MOD ${rows.tokens} = 0, '10.0.0.1', NULL), IF(seq MOD ${rows.tokens} = 0, 'Mozilla/5.0', NULL),
         IF(seq MOD ${rows.tokens} = 0, 'pwd', NULL), IF(seq MOD ${rows.tokens} = 0, ${now}, NULL), ${now} - INTERVAL CRC32(seq) MOD 3600 SECOND
       FROM seq_0_to_${tokens - 1}`,
      rows.tokens,
    ],
    [
      'user_change_pwd_logs',
      `INSERT INTO user_change_pwd_logs (user_id, type, password, created_at)
       SELECT ${user(`seq MOD ${users}`)}, 2, RPAD('$2b$10$', 60, 'x'), ${now} - INTERVAL 20 * (${rows.passwords} - seq DIV ${users}) DAY
       FROM seq_0_to_${rows.passwords * users - 1}`,
      rows.passwords,
    ],
    [
      'known_browsers',
      `INSERT INTO known_browsers (user_id, browser, seen_at)
       SELECT uid, SHA2(CONCAT('browser', n.seq, uid), 256), ${now} - INTERVAL CRC32(uid) MOD 390 DAY
       FROM bench_people p JOIN seq_1_to_${rows.browsers} n ORDER BY uid`,
      rows.browsers,
    ],
    [
      'mail_outbox',
      `INSERT INTO mail_outbox (id, kind, status, attempts, next_attempt_at, expires, sent_at, created_at, user_id)
       SELECT ${growingUuid('seq', rows.mails * users)}, 'otp', 1, 1, ${now}, ${now}, ${now}, ${now} - INTERVAL CRC32(seq) MOD 29 DAY,
         ${user(`seq MOD ${users}`)} FROM seq_0_to_${rows.mails * users - 1}`,
      rows.mails,
    ],
  ].filter(([, , each]) => each !== 0);
}

/**
 * Indexes are dropped before a table is filled, and built after it: a million entries of a random order take minutes, and one
 * sort takes seconds.
 * @param {(statement: string) => Promise<any>} run a statement or several
 * @param {Partial<typeof fewRows>} rows
 */
export async function fillManyUsers(run, users, rows = {}) {
  await run(`INSERT INTO tenants (id, name, created_at) VALUES ('acme', 'Acme', ${now}), ('globex', 'Globex', ${now}), ('small', 'Small', ${now});
    ${named('bench_first', firstNames)}
    ${named('bench_last', lastNames)}
    INSERT INTO bench_last SELECT ${lastNames.length} + seq, CONCAT('rare', seq), CONCAT('rare', seq), CONCAT('rare', seq) FROM seq_0_to_${rareNames - 1};
    CREATE TABLE bench_people (uid CHAR(36) PRIMARY KEY, seq INT, first INT, last INT, tenant VARCHAR(64), status INT, failed INT) COLLATE utf8mb4_bin
    SELECT ${uuid("CONCAT('user', seq)")} AS uid, seq, ${skewed(firstNames.length, 'first')} AS first,
      IF(seq MOD 5 = 0, ${lastNames.length} + FLOOR(${rareNames} * CRC32(CONCAT('rare', seq)) / 4294967296), ${skewed(lastNames.length, 'last')}) AS last,
      ${tenant} AS tenant, ${status} AS status, IF(seq MOD 1000 = 3, 9, 0) AS failed FROM seq_0_to_${users - 1} ORDER BY uid;`);
  for (const [table, statement] of fills(users, { ...fewRows, ...rows })) {
    const [{ 'Create Table': definition }] = await run(`SHOW CREATE TABLE ${table}`);
    const keys = definition.match(/^ +(UNIQUE )?KEY .*$/gm)?.map((line) => line.trim().replace(/,$/, '')) ?? [];
    const names = keys.map((key) => /`(\w+)`/.exec(key)[1]);
    if (keys.length > 0) await run(`ALTER TABLE ${table} ${names.map((name) => `DROP KEY ${name}`).join(', ')}`);
    await run(statement);
    if (keys.length > 0) await run(`ALTER TABLE ${table} ${keys.map((key) => `ADD ${key}`).join(', ')}`);
    await run(`ANALYZE TABLE ${table}`);
  }
}
