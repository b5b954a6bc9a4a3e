/**
 * The address below which the service has its paths. `Request` needs an absolute URL, so an empty service URL becomes the origin of
 * the page. The slash at the end keeps the last part of a path, such as `/api/v1`, when a path of the service is resolved against it.
 */
export const baseOfService = (serviceUrl: string, page: string): string => new URL(`${serviceUrl}/`, page).href;
