import { DataSource } from 'typeorm';
import { loadConfig } from './src/platform/config/app-config';
import { migrationOptions } from './src/platform/database/typeorm-options';

/** For TypeORM's own CLI: `npx typeorm migration:show -d dist/ormconfig.js`. The server and `cli migrate` do not need it. */
export default new DataSource(migrationOptions(loadConfig(process.env).database.url));
