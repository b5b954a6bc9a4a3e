'use client';

import { useEffect } from 'react';
import type {} from 'altcha/types/react';

/** Solves the proof of work of the service, and adds the field `captcha_token` to the form. */
export function Captcha() {
  useEffect(() => void import('altcha'), []);
  return <altcha-widget challenge="/captcha" name="captcha_token" auto="onload" />;
}
