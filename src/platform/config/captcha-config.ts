// Until every class takes its slice of the settings.
export type {
  CaptchaSettings as CaptchaConfig,
  SiteverifyProviderName,
  SiteverifySettings,
} from '../../captcha/captcha-settings';
