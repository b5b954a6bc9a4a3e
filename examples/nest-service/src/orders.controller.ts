import { Controller, Get } from '@nestjs/common';
import type { Auth as AuthClaims } from '@portal-auth/guard';
import { Auth, Public } from '@portal-auth/guard/nest';

@Controller()
export class OrdersController {
  @Public()
  @Get('health')
  health() {
    return { ok: true };
  }

  @Get('orders')
  orders(@Auth() { sub, tenant_id }: AuthClaims) {
    return { orders: [], user: sub, tenant: tenant_id };
  }
}
