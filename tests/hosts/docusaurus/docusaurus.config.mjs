export default {
  title: 'Notes',
  url: 'https://example.org',
  baseUrl: '/',
  onBrokenLinks: 'ignore',
  presets: [['classic', { docs: { routeBasePath: '/' }, blog: false, sitemap: false }]],
  themeConfig: { colorMode: { respectPrefersColorScheme: true }, navbar: { title: 'Notes' } },
};
