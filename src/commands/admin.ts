import type { Command } from './command';
export const admin: Command<'admin'> = async () => 0;
