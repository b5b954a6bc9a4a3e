import { IsBoolean, IsOptional } from 'class-validator';
import { ApiProperty, ApiPropertyOptional } from '../../platform/http/api-docs';
import type { Application } from '../application.entity';
import type { InteractionView } from '../openid/interactions';

export class FinishInteractionDto {
  @ApiPropertyOptional({
    type: 'boolean',
    nullable: true,
    description: 'The answer of the user, where `consent` of GET is true.',
  })
  @IsOptional()
  @IsBoolean({ message: 'consent must be true or false' })
  consent?: boolean | null;

  @ApiPropertyOptional({
    type: 'boolean',
    nullable: true,
    description:
      'True: the user goes on with this account, where `select_account` of GET is true. An answer as `consent` says so as well.',
  })
  @IsOptional()
  @IsBoolean({ message: 'select_account must be true or false' })
  select_account?: boolean | null;
}

export class InteractingApplication {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ example: 'Grafana' })
  name: string;

  @ApiProperty({ type: 'string', nullable: true, example: 'https://grafana.example.com/logo.svg' })
  logo_url: string | null;

  @ApiProperty({ type: 'string', nullable: true, example: 'https://grafana.example.com' })
  uri: string | null;
}

export class InteractionResponse {
  @ApiProperty({ type: InteractingApplication })
  application: InteractingApplication;

  @ApiProperty({ type: [String], example: ['openid', 'profile'], description: 'What the application asks for.' })
  scopes: string[];

  @ApiProperty({ description: 'Ask the user, and send the answer as `consent`.', example: false })
  consent: boolean;

  @ApiProperty({
    description:
      'The application asks which account the user wants (`prompt=select_account`). Show the one that is signed in, offer another ' +
      'sign-in, and send the answer as `select_account`.',
    example: false,
  })
  select_account: boolean;

  @ApiProperty({ description: 'The session lacks the second factor that the application asks for.', example: false })
  second_factor: boolean;
}

export class InteractionFinishedResponse {
  @ApiProperty({
    description: 'Where the browser goes on, as a navigation.',
    example: 'https://portal.example.com/oidc/auth/9f8a2d5b1c',
  })
  redirect_to: string;
}

export function applicationView({ id, name, logoUrl, uri }: Application): InteractingApplication {
  return { id, name, logo_url: logoUrl, uri };
}

export function interactionView(view: InteractionView): InteractionResponse {
  return {
    application: applicationView(view.application),
    scopes: [...view.scopes],
    consent: view.consent,
    select_account: view.selectAccount,
    second_factor: view.secondFactor,
  };
}
