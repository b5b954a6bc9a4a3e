import { columnsOf, readerOf, type Stored } from '../user-columns';
import { listedFields } from '../user-fields';
import { notLocked } from '../users.repository';
import { listedUser, type ListedField, type ListedUser } from './listed-user';

export type ListedRow = Stored<ListedField> & Record<'notLocked', unknown>;

/** The columns of a row. The values are those of `notLocked`. No secret is among them. */
export const listedColumns = `${columnsOf(listedFields)}, ${notLocked} AS notLocked`;

const read = readerOf(listedFields);

export const userOfRow = (row: ListedRow): ListedUser => listedUser(read(row), Number(row.notLocked) !== 1);
