// Until every class takes its slice of the settings.
export { ConfigModule } from '../../settings/config.module';
