import { ApiProperty } from '../../platform/http/api-docs';

export class OwnApplicationItem {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ example: 'Grafana' })
  name: string;

  @ApiProperty({ type: 'string', nullable: true, example: 'https://grafana.example.com/public/img/grafana_icon.svg' })
  logo_url: string | null;

  @ApiProperty({ example: 'https://grafana.example.com' })
  uri: string;
}

export class OwnApplicationsResponse {
  @ApiProperty({ type: [OwnApplicationItem], description: 'In the order of the names.' })
  applications: OwnApplicationItem[];
}
