import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { HomeRealms } from '../../identity-providers/home-realm';
import { ApiOperation, ApiTags } from '../../platform/http/api-docs';
import { AnswersTo, anyone } from '../../platform/http/audience';
import { DiscoverDto, DiscoverResponse } from './discover.dto';

/** The first step of a sign-in page that asks for the name first (docs/spec/extensions.md#k). */
@ApiTags('login')
@Controller()
export class DiscoverController {
  constructor(private readonly realms: HomeRealms) {}

  @Post('login/discover')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'discoverSignIn',
    summary: 'Find out where somebody of this name signs in',
    description:
      'The domain of the name decides. No account is looked up, so the answer tells nothing about who exists.',
  })
  @AnswersTo(anyone, DiscoverResponse)
  async discover(@Body() { username }: DiscoverDto): Promise<DiscoverResponse> {
    const { provider, identityProvider } = await this.realms.of(username);
    return { provider, identity_provider: identityProvider };
  }
}
