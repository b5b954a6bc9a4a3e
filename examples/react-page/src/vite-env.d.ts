interface ImportMetaEnv {
  /** The address of the authentication service. */
  readonly VITE_AUTH_URL?: string;
}
