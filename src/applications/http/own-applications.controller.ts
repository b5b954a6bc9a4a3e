import { Controller, Get } from '@nestjs/common';
import { AnswersTo } from '../../platform/http/audience';
import { ApiOperation, ApiTags } from '../../platform/http/api-docs';
import { accessToken } from '../../sessions/audiences';
import { type CurrentSession, Session } from '../../sessions/current-session';
import { GroupMembers, type GroupOfUser } from '../../groups/group-members';
import type { Application } from '../application.entity';
import { admits } from '../application-access';
import { Applications } from '../applications.repository';
import { OwnApplicationsResponse } from './own-applications.dto';

/** What the user of the session may open (docs/spec/extensions.md#j). */
@ApiTags('account')
@Controller('user/applications')
export class OwnApplicationsController {
  constructor(
    private readonly applications: Applications,
    private readonly members: GroupMembers,
  ) {}

  @Get()
  @ApiOperation({ operationId: 'listApplications', summary: 'List the applications that you may open' })
  @AnswersTo(accessToken, OwnApplicationsResponse)
  async list(@Session() { user }: CurrentSession): Promise<OwnApplicationsResponse> {
    const rows = await this.applications.list();
    let read: Promise<GroupOfUser[]> | undefined;
    const groups = () => (read ??= this.members.groupsOf(user));
    const open: (Application & { uri: string })[] = [];
    for (const row of rows) {
      if (row.uri !== null && (await admits(row, user, groups))) open.push({ ...row, uri: row.uri });
    }
    // By code points, the same in every language; ids keep the order of equal names.
    open.sort((a, b) => (a.name === b.name ? (a.id < b.id ? -1 : 1) : a.name < b.name ? -1 : 1));
    return { applications: open.map(({ id, name, logoUrl, uri }) => ({ id, name, logo_url: logoUrl, uri })) };
  }
}
