import type { QueryRunner } from 'typeorm';
import type { RepeatableMigration } from './repeatable';

const row = "kind = 'tokens' AND subject = '00000000-0000-0000-0000-000000000000'";

/**
 * Says from when on refresh tokens have their own audience, which version 1.0.0 refuses: seven days after an upgrade, so that a
 * replica of 1.0.0 loses no session while both run and after a roll-back; and at once where there is nobody yet
 * (docs/operations/upgrade.md#refresh-tokens).
 */
export class RefreshTokenAudience1767600000000 implements RepeatableMigration {
  readonly name = 'RefreshTokenAudience1767600000000';

  async up(runner: QueryRunner): Promise<void> {
    const isDone = (await runner.query(`SELECT kind FROM cooldowns WHERE ${row}`)) as unknown[];
    if (isDone.length > 0) return;
    const mysql = runner.dataSource.options.type === 'mysql';
    const inSevenDays = mysql ? 'UTC_TIMESTAMP(3) + INTERVAL 7 DAY' : "strftime('%Y-%m-%d %H:%M:%f', 'now', '+7 days')";
    const users = (await runner.query('SELECT uid FROM users LIMIT 1')) as unknown[];
    const until = users.length > 0 ? inSevenDays : "'2000-01-01 00:00:00.000'";
    await runner.query(
      `INSERT INTO cooldowns (subject, kind, until) VALUES ('00000000-0000-0000-0000-000000000000', 'tokens', ${until})`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DELETE FROM cooldowns WHERE ${row}`);
  }
}
