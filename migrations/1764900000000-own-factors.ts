import type { QueryRunner } from 'typeorm';
import type { RepeatableMigration } from './repeatable';

/**
 * Adds `users.own_factors`: 1 since the user first made recovery codes or a passkey. The checks of tokens count the rows
 * of other users no more.
 */
export class OwnFactors1764900000000 implements RepeatableMigration {
  readonly name = 'OwnFactors1764900000000';

  async up(runner: QueryRunner): Promise<void> {
    if (!(await runner.hasColumn('users', 'own_factors'))) {
      // Plain SQL, because TypeORM would copy the whole table on SQLite.
      await runner.query('ALTER TABLE users ADD COLUMN own_factors tinyint NOT NULL DEFAULT 0');
    }
    const owners = '(SELECT user_id FROM recovery_codes UNION SELECT user_id FROM passkeys)';
    await runner.query(
      runner.dataSource.options.type === 'mysql'
        ? // Begins with the owners. MariaDB 10 would run `IN (…)` for each user, and lock all of them.
          `UPDATE ${owners} AS owners JOIN users ON users.uid = owners.user_id SET own_factors = 1`
        : `UPDATE users SET own_factors = 1 WHERE uid IN ${owners}`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    if (await runner.hasColumn('users', 'own_factors')) await runner.query('ALTER TABLE users DROP COLUMN own_factors');
  }
}
