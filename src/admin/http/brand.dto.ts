import { IsOptional, IsString, MaxLength, ValidateIf } from 'class-validator';
import { ApiProperty } from '../../platform/http/api-docs';

const text = { type: String, nullable: true } as const;
const given = { ...text, required: false } as const;
const image = 'A data URL of a PNG, WebP or SVG image of at most 256 KiB, or the path that is shown; null removes it.';
const shownImage = { ...text, description: 'The path of the image.' } as const;
/** Longer than a data URL of the largest image, whose own message is clearer. */
const longestText = 400_000;

/** Absent, null, or a text. */
const NullableText = (): PropertyDecorator => (target, key) => {
  for (const decorate of [
    IsOptional(),
    ValidateIf((_body, value) => value !== null),
    IsString(),
    MaxLength(longestText),
  ])
    decorate(target, key);
};

/** A field that is missing stays as it is; null removes it. */
export class ChangeBrandDto {
  @ApiProperty({ ...given, maxLength: 64, example: 'Acme' })
  @NullableText()
  name?: string | null;

  @ApiProperty({ ...given, example: '#2457c5', description: 'White text on it must reach a contrast of 4.5:1.' })
  @NullableText()
  color?: string | null;

  @ApiProperty({ ...given, description: `For light backgrounds. ${image}` })
  @NullableText()
  logo_light?: string | null;

  @ApiProperty({ ...given, description: `For dark backgrounds. ${image}` })
  @NullableText()
  logo_dark?: string | null;

  @ApiProperty({ ...given, description: `The icon of the browser tab. ${image}` })
  @NullableText()
  favicon?: string | null;

  @ApiProperty({ ...given, maxLength: 160, example: 'One account for everything' })
  @NullableText()
  tagline?: string | null;

  @ApiProperty({ ...given, maxLength: 512, description: 'An https or mailto URL.' })
  @NullableText()
  support_url?: string | null;

  @ApiProperty({ ...given, maxLength: 512, description: 'An https URL.' })
  @NullableText()
  privacy_url?: string | null;

  @ApiProperty({ ...given, maxLength: 512, description: 'An https URL.' })
  @NullableText()
  imprint_url?: string | null;
}

/** What a field shows that is null: of the default, or of the environment. */
export class InheritedBrand {
  @ApiProperty({ ...text, example: 'Example Corp' })
  name: string | null;

  @ApiProperty({ example: '#2457c5' })
  color: string;

  @ApiProperty(shownImage)
  logo_light: string | null;

  @ApiProperty(shownImage)
  logo_dark: string | null;

  @ApiProperty(shownImage)
  favicon: string | null;

  @ApiProperty(text)
  tagline: string | null;

  @ApiProperty(text)
  support_url: string | null;

  @ApiProperty(text)
  privacy_url: string | null;

  @ApiProperty(text)
  imprint_url: string | null;
}

export class BrandResponse {
  @ApiProperty({ ...text, example: 'Acme' })
  name: string | null;

  @ApiProperty({ ...text, example: '#2457c5' })
  color: string | null;

  @ApiProperty(shownImage)
  logo_light: string | null;

  @ApiProperty(shownImage)
  logo_dark: string | null;

  @ApiProperty(shownImage)
  favicon: string | null;

  @ApiProperty(text)
  tagline: string | null;

  @ApiProperty(text)
  support_url: string | null;

  @ApiProperty(text)
  privacy_url: string | null;

  @ApiProperty(text)
  imprint_url: string | null;

  @ApiProperty({ type: InheritedBrand })
  inherited: InheritedBrand;
}
