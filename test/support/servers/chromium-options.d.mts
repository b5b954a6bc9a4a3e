export const quietOptions: string[];
