import { DataSource } from 'typeorm';
import { loadConfig } from './src/settings/app-config';
import { migrationOptions } from './src/platform/database/typeorm-options';

/** Only for the CLI of TypeORM: `npx typeorm migration:show -d dist/ormconfig.js`. */
export default new DataSource(migrationOptions(loadConfig(process.env).database.url));
