import { Injectable } from '@nestjs/common';
import { Brands } from './brands.repository';
import { imageName, largestImageBytes } from './images/image';

const mostKept = 32;

/** The stored images by their names. A name is the hash of the content, so what is in memory is never old. */
@Injectable()
export class BrandFiles {
  /** At most `mostKept` images of at most 256 KiB: 8 MiB. */
  private readonly kept = new Map<string, Buffer>();

  constructor(private readonly brands: Brands) {}

  /** Whether `find` needs the database. */
  needsReading(name: string): boolean {
    return imageName.test(name) && !this.kept.has(name);
  }

  async find(name: string): Promise<Buffer | undefined> {
    const known = this.kept.get(name);
    if (known !== undefined || !imageName.test(name)) return known;
    const content = await this.brands.image(name);
    if (content === undefined || content.length > largestImageBytes) return undefined;
    this.kept.set(name, content);
    if (this.kept.size > mostKept) this.kept.delete(this.kept.keys().next().value!);
    return content;
  }
}
