// What the service knows of its reports: the time zone in which days and months begin, and which day is
// today there. The browser may be in another zone.

export async function reportsOf(api) {
  const { last_day: today, time_zone: timeZone } = await api.get('/v1/usage?by=month');
  return { today, timeZone };
}
