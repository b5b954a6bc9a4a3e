// Until every class takes its slice of the settings.
export { type CidrRange, type HttpSettings as HttpConfig, isLoopback } from './http-settings';
