import { Injectable } from '@nestjs/common';
import { Clock } from '../shared/clock';
import { operatorAuthority } from '../admin/authority';
import { UserAdministration } from '../admin/user-administration';
import { UsersRepository } from '../users/users.repository';
import { demoAccounts, demoPassword } from './demo-accounts';

/** Creates the demo accounts that do not exist yet. A further start changes nothing. */
@Injectable()
export class DemoSeed {
  constructor(
    private readonly administration: UserAdministration,
    private readonly users: UsersRepository,
    private readonly clock: Clock,
  ) {}

  async run(): Promise<void> {
    for (const { user, passwordAgeDays } of demoAccounts) {
      if ((await this.users.findByLoginName(user.loginName)) !== null) continue;
      await this.administration.create(operatorAuthority, {
        ...user,
        passwordHash: await this.administration.hash(demoPassword, user, 'waived'),
        passwordSetAt: this.clock.secondsFromNow(-passwordAgeDays * 86_400),
      });
    }
  }
}
