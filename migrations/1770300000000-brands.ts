import type { QueryRunner, Table } from 'typeorm';
import { Columns } from './columns';
import type { RepeatableMigration } from './repeatable';

/** Adds the brand of each tenant and of the default, and their images (docs/spec/extensions.md#o, ADR 0044). */
export class Brands1770300000000 implements RepeatableMigration {
  readonly name = 'Brands1770300000000';

  tables(c: Columns): Table[] {
    const nullable = { isNullable: true };
    return [
      c.table('brands', [
        // `*` is the default: no tenant can have this id.
        c.text('tenant_id', 64, { isPrimary: true }),
        c.text('name', 64, nullable),
        c.text('color', 7, nullable),
        // The names of files below `/brand/`.
        c.text('logo_light', 64, nullable),
        c.text('logo_dark', 64, nullable),
        c.text('favicon', 64, nullable),
        c.text('tagline', 160, nullable),
        c.text('support_url', 512, nullable),
        c.text('privacy_url', 512, nullable),
        c.text('imprint_url', 512, nullable),
        c.time('changed_at'),
      ]),
      c.table(
        'brand_images',
        [
          c.text('tenant_id', 64, { isPrimary: true }),
          c.text('field', 16, { isPrimary: true }),
          // An image is longer than a TEXT of MySQL.
          c.count('part', { isPrimary: true }),
          c.text('name', 64),
          // Base64.
          c.longText('content'),
        ],
        [{ columns: ['name'] }],
      ),
    ];
  }

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    for (const table of this.tables(c)) await c.create(table);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const { name } of this.tables(new Columns(runner)).reverse()) await runner.dropTable(name, true);
  }
}
