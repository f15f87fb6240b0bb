import { describe, expect, it } from 'vitest';
import { consoleHarness } from './harness.js';

const house = consoleHarness();

const signInAs = async (user: string, password: string): Promise<void> => {
  await house.page.getByLabel('User').fill(user);
  await house.page.getByLabel('Password').fill(password);
  await house.page.getByRole('button', { name: 'Sign in' }).click();
};

describe('the login form of the console', () => {
  it('signs a user in, and out again', async () => {
    await house.page.goto(house.url);
    expect(await house.violations()).toEqual([]);
    await signInAs('guest', 'guest');
    await house.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await house.page.reload();
    await house.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await house.page.getByRole('button', { name: 'Sign out' }).click();
    await house.page.getByLabel('Password').waitFor();
    expect(await house.page.evaluate('sessionStorage.length + localStorage.length')).toBe(0);
  });

  it('says that a password is wrong, without a dialog of the browser', async () => {
    await house.page.goto(house.url);
    await signInAs('guest', 'wrong');
    await house.page.getByRole('alert').waitFor();
    expect(await house.page.getByRole('alert').textContent()).toContain('does not accept');
    await signInAs('guest', 'guest');
    await house.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  });

  it('keeps the address of a permalink', async () => {
    await house.page.goto(`${house.url}#/queues?name=orders`);
    await signInAs('guest', 'guest');
    await house.page.getByRole('heading', { level: 1, name: 'Queues' }).waitFor();
    expect(new URL(house.page.url()).hash).toBe('#/queues?name=orders');
  });

  it('ends the session when the password is changed on the broker', async () => {
    await house.api('PUT', '/users/temporary', { password: 'first', tags: 'monitoring' });
    await house.page.goto(house.url);
    await signInAs('temporary', 'first');
    await house.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await house.api('PUT', '/users/temporary', { password: 'second', tags: 'monitoring' });
    await house.page.reload();
    await house.page.getByText('no longer accepts').waitFor();
  });
});

describe('the route of the console', () => {
  it('has a content security policy of its own, and allows no inline script and no other origin', async () => {
    const response = await fetch(house.url);
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    const text = await response.text();
    expect(text).not.toMatch(/<script(?![^>]*src=)|<style|https?:/);
  });

  it('is small: under 60 kB gzipped until the overview is shown, without charts', async () => {
    const sizes: { path: string; bytes: number }[] = [];
    house.page.on('response', (response) => {
      const { pathname } = new URL(response.url());
      const length = Number(response.headers()['content-length'] ?? Number.NaN);
      if (!pathname.startsWith('/api/')) sizes.push({ path: pathname, bytes: length });
    });
    await house.page.goto(house.url);
    await signInAs('guest', 'guest');
    await house.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    expect(sizes.length).toBeGreaterThan(2);
    expect(sizes.filter(({ bytes }) => Number.isNaN(bytes))).toEqual([]);
    expect(sizes.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(60_000);
  });
});
