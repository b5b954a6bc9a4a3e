import { IsIn, IsOptional } from 'class-validator';
import { ApiProperty } from '../../platform/http/api-docs';
import type { Receiver } from '../../offboarding/offboarding-receipts';
import { type OffboardingOrigin, offboardingOrigins } from '../../offboarding/offboardings';

const nullable = { type: 'string', nullable: true } as const;
const nullableNumber = { type: 'number', nullable: true } as const;
const nullableTime = { ...nullable, format: 'date-time' } as const;
const origins = ['api', 'console'] as const;

export class OffboardDto {
  @ApiProperty({ enum: origins, default: 'api', required: false, description: 'For the receipt: who calls.' })
  @IsOptional()
  @IsIn(origins, { message: `via must be one of ${origins.join(', ')}` })
  via?: (typeof origins)[number];
}

export class OffboardingStep {
  @ApiProperty({
    example: 'sessions',
    description:
      '`account` (disabled), `sessions`, `trusted_devices`, `pending_logins`, `links`, `enrolments`, `recovery_codes`, `grants`, `external_sign_ins`. Later versions add more.',
  })
  step: string;

  @ApiProperty({ example: 2, description: 'How many were ended; 0 when there was nothing to end.' })
  ended: number;

  @ApiProperty({ format: 'date-time' })
  at: string;
}

export class OffboardingReceiver {
  @ApiProperty({ enum: ['application', 'webhook'] })
  kind: Receiver['kind'];

  @ApiProperty({ ...nullable, format: 'uuid', description: 'Of the application.' })
  id: string | null;

  @ApiProperty({ ...nullable, example: 'Grafana', description: 'Null when the application was deleted.' })
  name: string | null;

  @ApiProperty({ ...nullableNumber, description: 'Sessions of the application that had to end.' })
  sessions: number | null;

  @ApiProperty({
    enum: ['waiting', 'told', 'failed', 'not_offered'],
    description:
      '`waiting`: it has not answered yet. `failed`: it was given up. `not_offered`: the application cannot be told, so its session ends by itself.',
  })
  status: Receiver['status'];

  @ApiProperty({ ...nullableNumber, description: 'Null when they are not known any more.' })
  attempts: number | null;

  @ApiProperty({ ...nullableTime, description: 'When it accepted, or was given up.' })
  answered_at: string | null;

  @ApiProperty({ ...nullable, example: 'status 200', description: 'The last answer, or the kind of the failure.' })
  answer: string | null;

  @ApiProperty(nullableTime)
  next_attempt_at: string | null;
}

export class AdminOffboardingItem {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ enum: offboardingOrigins })
  via: OffboardingOrigin;

  @ApiProperty({ ...nullable, description: 'The uid of the administrator, the client of SCIM, or the operator.' })
  began_by: string | null;

  @ApiProperty({ format: 'date-time' })
  began_at: string;

  @ApiProperty({ type: [OffboardingStep] })
  steps: readonly OffboardingStep[];

  @ApiProperty({ type: [OffboardingReceiver] })
  receivers: readonly OffboardingReceiver[];

  @ApiProperty({ description: 'Whether each receiver has answered or was given up.' })
  complete: boolean;

  @ApiProperty({ ...nullableTime, description: 'When the last receiver answered. Null while one is waited for.' })
  completed_at: string | null;

  @ApiProperty({ ...nullableNumber, example: 3.2, description: 'From the beginning to `completed_at`.' })
  seconds: number | null;

  @ApiProperty({ example: 0, description: 'Receivers that never accepted it.' })
  given_up: number;

  @ApiProperty({ ...nullableTime, description: 'When the account was enabled again. The receipt stays.' })
  restored_at: string | null;

  @ApiProperty(nullable)
  restored_by: string | null;
}

export class AdminOffboardings {
  @ApiProperty({ type: AdminOffboardingItem, nullable: true, description: 'The newest one; null when there is none.' })
  offboarding: AdminOffboardingItem | null;

  @ApiProperty({ type: [AdminOffboardingItem], description: 'Those before it, the newest first.' })
  earlier: AdminOffboardingItem[];
}
