import { ApiProperty } from '../../platform/http/api-docs';
import type { UserPasskey } from '../admin-users';

const nullable = { type: 'string', nullable: true } as const;

export class AdminPasskeyItem {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ description: 'Chosen by the owner.', example: 'My phone' })
  name: string;

  @ApiProperty({ format: 'date-time' })
  created_at: string;

  @ApiProperty({ ...nullable, format: 'date-time', description: 'The last login with it.' })
  last_used_at: string | null;

  @ApiProperty({ description: 'Whether it is copied to other devices of its owner, so that a lost device is no loss.' })
  backed_up: boolean;
}

export class AdminPasskeyPage {
  @ApiProperty({ type: [AdminPasskeyItem], description: 'The newest first.' })
  items: AdminPasskeyItem[];

  @ApiProperty(nullable)
  next: string | null;
}

export function passkeyItem({ id, name, createdAt, lastUsedAt, backedUp }: UserPasskey): AdminPasskeyItem {
  return {
    id,
    name,
    created_at: createdAt.toISOString(),
    last_used_at: lastUsedAt?.toISOString() ?? null,
    backed_up: backedUp,
  };
}
