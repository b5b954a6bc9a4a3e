import type { Texts } from './en';

export const texts: Texts = {
  busy: '正在登录…',
  title: '您尚未登录',
  refused: {
    LOGIN_404001: '您在此处没有账户。请向管理员申请，或使用贵公司的其他账户重试。',
    APP_404001: '此登录方式已不再提供。请选择其他方式。',
    other: '登录未成功。请几分钟后重试。',
  },
  again: '重试',
  otherWay: '使用其他方式登录',
  told: { title: '您可以关闭此窗口', text: '请回到之前的窗口继续操作。' },
  fresh: {
    intro: '您上次登录已有一段时间。请再次使用 {name} 登录。您输入的内容不会丢失。',
    factor: '此步骤需要双重验证。请使用 {name} 登录，然后输入验证码。',
    open: '使用 {name} 继续',
    waiting: '请在已打开的 {name} 窗口中继续。此页面正在等待。',
    again: '再次打开窗口',
    blocked: '浏览器没有打开窗口。请允许此页面打开窗口，然后重试。',
    ended: '您已五次输入错误的验证码。请重新开始。',
  },
};
