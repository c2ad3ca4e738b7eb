<?php
// Installs WordPress, and posts the same text as an administrator and as an author.
define('WP_INSTALLING', true);
$_SERVER['HTTP_HOST'] = '127.0.0.1';
require __DIR__ . '/site/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';
if (!function_exists('wp_new_blog_notification')) {
  function wp_new_blog_notification() {}
}
$installed = wp_install('Notes', 'admin', 'admin@example.org', true, '', wp_generate_password());
$author = wp_insert_user(['user_login' => 'author', 'user_pass' => wp_generate_password(), 'role' => 'author']);
foreach (['twentytwentythree'] as $theme) {
  if (wp_get_theme($theme)->exists()) switch_theme($theme);
}
$text = json_decode(file_get_contents(__DIR__ . '/posts.json'))->post;
$posts = [];
foreach (['administrator' => $installed['user_id'], 'author' => $author] as $name => $user) {
  wp_set_current_user($user);
  kses_init();
  $posts[$name] = wp_insert_post([
    'post_title' => "A post of an $name",
    'post_content' => wp_slash($text),
    'post_status' => 'publish',
    'post_author' => $user,
  ]);
}
echo json_encode($posts);
