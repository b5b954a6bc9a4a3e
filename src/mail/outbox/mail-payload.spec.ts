import { Logger } from '@nestjs/common';
import { mailSamples, sampleMail } from '../../../test/support/mail-samples';
import { KeyRing } from '../../platform/crypto/key-ring';
import { SystemRandom } from '../../shared/random';
import { sealedMailColumns } from '../sealed-mail-columns';
import { failureKind } from '../smtp/smtp-failure';
import { laterKinds, MailNotReadable, openMail, sealMail } from './mail-payload';

const ring = (...bytes: number[]) =>
  new KeyRing({ dataKeys: bytes.map((byte) => Buffer.alloc(32, byte)) }, new SystemRandom());

// KeyRing logs a value that cannot be decrypted.
beforeAll(() => Logger.overrideLogger(false));

describe('a sealed mail', () => {
  it.each(mailSamples)('%s can be read again', (_, sample) => {
    const mail = sampleMail(sample, 'de');
    expect(openMail(ring(1), sealMail(ring(1), mail))).toEqual(mail);
  });

  it('of a kind of version 1.0.0 has the purpose of that version, whose workers read it', () => {
    for (const [, sample] of mailSamples.filter(([, { kind }]) => !laterKinds.includes(kind))) {
      expect(JSON.parse(ring(1).open('mail', sealMail(ring(1), sampleMail(sample, 'en'))))).toMatchObject({
        kind: sample.kind,
      });
    }
  });

  it('of a later kind does not open for a worker of version 1.0.0, which then gives it back instead of giving it up', () => {
    for (const [, sample] of mailSamples.filter(([, { kind }]) => laterKinds.includes(kind))) {
      expect(() => ring(1).open('mail', sealMail(ring(1), sampleMail(sample, 'en')))).toThrow('does not open');
    }
    expect(failureKind(new MailNotReadable())).toBe('server');
  });

  it('without its key is not readable, whatever its kind', () => {
    for (const [, sample] of mailSamples) {
      expect(() => openMail(ring(2), sealMail(ring(1), sampleMail(sample, 'en')))).toThrow(MailNotReadable);
    }
  });

  it('is sealed again by `keys reseal` with its own purpose', () => {
    for (const [, sample] of mailSamples) {
      const [column, ...others] = sealedMailColumns.filter(
        ({ table, only }) =>
          table === 'mail_outbox' && only!.includes(`'${sample.kind}'`) === only!.startsWith('kind IN'),
      );
      expect(others).toEqual([]);
      const sealed = sealMail(ring(1), sampleMail(sample, 'en'));
      expect(openMail(ring(2), ring(2, 1).reseal(column!.purpose, sealed))).toEqual(sampleMail(sample, 'en'));
    }
  });
});
