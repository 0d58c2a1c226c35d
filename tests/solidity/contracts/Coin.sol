// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// The interface of ERC-20 in a small contract: balances, and allowances in a nested mapping.
interface Fungible {
    function transfer(address to, uint value) external returns (bool);
    function approve(address spender, uint value) external returns (bool);
    function transferFrom(address from, address to, uint value) external returns (bool);
}

contract Coin is Fungible {
    mapping(address => uint) balances;
    mapping(address => mapping(address => uint)) allowances;
    uint immutable supply;

    constructor(uint first) {
        supply = first;
        balances[msg.sender] = first;
    }

    function transfer(address to, uint value) external returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    function approve(address spender, uint value) external returns (bool) {
        allowances[msg.sender][spender] = value;
        assert(allowances[msg.sender][spender] == value); // expect: safe
        return true;
    }

    function transferFrom(address from, address to, uint value) external returns (bool) {
        uint before = allowances[from][msg.sender];
        require(before >= value);
        allowances[from][msg.sender] = before - value;
        move(from, to, value);
        assert(allowances[from][msg.sender] <= before); // expect: safe
        assert(balances[to] > 0); // expect: unsafe
        return true;
    }

    function move(address from, address to, uint value) private {
        require(to != address(0));
        require(balances[from] >= value);
        balances[from] -= value;
        balances[to] += value;
        assert(balances[to] >= value); // expect: safe
    }
}
